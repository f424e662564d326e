import type { Uuid } from '@countersign/ids';

/** Roles of admin keys (contract, Admin), from the fewest rights to the most. Each has the rights of those before it. */
export const ADMIN_ROLES = ['viewer', 'support', 'operator', 'owner'] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

/** The name of the key of the environment. Stored keys cannot have it, in upper or lower case. */
export const ROOT_NAME = 'root';

/** The holder of an admin key. */
export interface AdminPrincipal {
  readonly kind: 'admin';
  /** Null for the key of the environment, which is not stored. */
  readonly keyId: Uuid | null;
  /** The actor in the audit log. */
  readonly name: string;
  readonly role: AdminRole;
}
