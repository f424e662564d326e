import { SCOPES, type Scope } from '@countersign/accounts/accounts';
import { ADMIN_ROLES, type AdminRole } from '@countersign/accounts/admin-keys';
import type { AccountRole, MemberRole } from '@countersign/accounts/members';

/** The scopes of an account's API that a role of its members has, by what the call does. */
interface AccountRights {
  /** GET. */
  readonly read: readonly Scope[];
  /** Every other method. */
  readonly write: readonly Scope[];
}

/**
 * Calls for an account over the console (contract, Admin): by its members, and by an owner of the installation who has named
 * it in the header `Countersign-Account`. An owner reads sessions under `/v1/admin`, where each read is audited.
 */
export const ACCOUNT_POLICY = {
  owner: { read: ['account', 'usage', 'webhooks'], write: ['account', 'webhooks'] },
  developer: { read: ['account', 'usage', 'verify', 'webhooks'], write: ['account', 'webhooks'] },
  viewer: { read: ['account', 'usage', 'verify', 'webhooks'], write: [] },
} as const satisfies Readonly<Record<AccountRole | 'owner', AccountRights>>;

type RoleForAccount = keyof typeof ACCOUNT_POLICY;

const hasRights = (role: MemberRole): role is RoleForAccount => Object.hasOwn(ACCOUNT_POLICY, role);

/** Whether the holder of a session may make a call for an account that needs a scope. */
export function mayCallForAccount(role: MemberRole, method: string, scope: Scope): boolean {
  if (!hasRights(role)) return false;
  const scopes: readonly Scope[] = ACCOUNT_POLICY[role][method === 'GET' || method === 'HEAD' ? 'read' : 'write'];
  return scopes.includes(scope);
}

/** The scopes that keys may get which the holder of a session makes or rotates for an account. */
export const grantedBy = (role: RoleForAccount): readonly Scope[] =>
  role === 'viewer' ? ACCOUNT_POLICY[role].read : SCOPES;

/** Roles of an account's members that see phones, metadata and links of sessions. */
const READS_PERSONAL_DATA: readonly MemberRole[] = ['developer'] satisfies readonly AccountRole[];

/** Whether a member of an account sees people's data over the console. Roles of the installation: ADMIN_RIGHTS. */
export const readsPersonalData = (role: MemberRole): boolean => READS_PERSONAL_DATA.includes(role);

export const isInstallationRole = (role: MemberRole): role is AdminRole =>
  (ADMIN_ROLES as readonly MemberRole[]).includes(role);
