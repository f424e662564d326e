export { MemberEntity, MEMBERS, type Member } from './member.entity.js';
export {
  ACCOUNT_ROLES,
  MEMBER_ROLES,
  type AccountRole,
  type MemberRole,
  type NewMember,
  type OidcIdentity,
  type VerifiedIdentity,
} from './member.js';
export { MemberStore } from './member.store.js';
