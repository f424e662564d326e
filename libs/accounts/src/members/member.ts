import type { Uuid } from '@countersign/ids';
import type { AdminRole } from '../admin-keys/admin-key.js';

/** Roles of members of an account (contract, Admin). Members of the installation have the roles of admin keys. */
export const ACCOUNT_ROLES = ['viewer', 'developer'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

export type MemberRole = AdminRole | AccountRole;

/** Every role of a member, of the installation or of an account. */
export const MEMBER_ROLES = [
  'viewer',
  'developer',
  'support',
  'operator',
  'owner',
] as const satisfies readonly MemberRole[];

/** A person at an OpenID provider: the `iss` and `sub` of its ID tokens, which never change (OpenID Connect Core, 2). */
export interface OidcIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** A person who has just signed in at an OpenID provider. */
export interface VerifiedIdentity extends OidcIdentity {
  /** Null unless the provider has verified it. */
  readonly verifiedEmail: string | null;
}

/** Means by which a member signs in. Account members have only a phone, installation members everything or nothing. */
export interface SignInMeans {
  readonly phone: string | null;
  readonly email: string | null;
  readonly oidcIssuer: string | null;
  readonly oidcSubject: string | null;
}

export type NewMember = SignInMeans & {
  readonly name: string;
  readonly role: MemberRole;
  readonly accountId: Uuid | null;
  readonly active?: boolean;
};
