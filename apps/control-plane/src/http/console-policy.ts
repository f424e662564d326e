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

/** Calls of an account's members over the console (contract, Admin). Members of the installation: ADMIN_POLICY. */
export const ACCOUNT_POLICY = {
  developer: { read: ['account', 'usage', 'verify', 'webhooks'], write: ['account'] },
  viewer: { read: ['account', 'usage', 'verify', 'webhooks'], write: [] },
} as const satisfies Readonly<Record<AccountRole, AccountRights>>;

/** Whether a member of an account may make a call that needs a scope. */
export function mayCallAsMember(role: MemberRole, method: string, scope: Scope): boolean {
  if (role !== 'developer' && role !== 'viewer') return false;
  const scopes: readonly Scope[] = ACCOUNT_POLICY[role][method === 'GET' || method === 'HEAD' ? 'read' : 'write'];
  return scopes.includes(scope);
}

/** The scopes that keys may get which a member of an account makes or rotates. */
export const grantedBy = (role: AccountRole): readonly Scope[] =>
  role === 'developer' ? SCOPES : ACCOUNT_POLICY[role].read;

/** Roles of an account's members that see phones, metadata and links of sessions. */
const READS_PERSONAL_DATA: readonly MemberRole[] = ['developer'] satisfies readonly AccountRole[];

/** Whether a member of an account sees people's data over the console. Roles of the installation: ADMIN_RIGHTS. */
export const readsPersonalData = (role: MemberRole): boolean => READS_PERSONAL_DATA.includes(role);

export const isInstallationRole = (role: MemberRole): role is AdminRole =>
  (ADMIN_ROLES as readonly MemberRole[]).includes(role);
