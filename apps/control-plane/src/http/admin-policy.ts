import type { AdminRole } from '@countersign/accounts/admin-keys';

const EVERY_ROLE = ['viewer', 'support', 'operator', 'owner'] as const satisfies readonly AdminRole[];
const FROM_SUPPORT = ['support', 'operator', 'owner'] as const satisfies readonly AdminRole[];
const FROM_OPERATOR = ['operator', 'owner'] as const satisfies readonly AdminRole[];
const OWNER_ONLY = ['owner'] as const satisfies readonly AdminRole[];

/**
 * The roles that may call each admin route (contract, Admin), by permission: `<resource>.<action>`. Every admin route
 * names a permission; a route without one fails the start of the process.
 */
export const ADMIN_POLICY = {
  'accounts.list': EVERY_ROLE,
  'accounts.get': EVERY_ROLE,
  'accounts.create': OWNER_ONLY,
  'accounts.update': OWNER_ONLY,

  'brands.list': EVERY_ROLE,
  'brands.get': EVERY_ROLE,
  'brands.create': OWNER_ONLY,
  'brands.update': OWNER_ONLY,
  'brands.approve': OWNER_ONLY,
  'brands.refuse': OWNER_ONLY,

  'keys.list': EVERY_ROLE,
  'keys.get': EVERY_ROLE,
  'keys.create': OWNER_ONLY,
  'keys.update': OWNER_ONLY,
  'keys.rotate': OWNER_ONLY,
  'keys.revoke': OWNER_ONLY,

  'admin-keys.list': OWNER_ONLY,
  'admin-keys.get': OWNER_ONLY,
  'admin-keys.create': OWNER_ONLY,
  'admin-keys.update': OWNER_ONLY,
  'admin-keys.rotate': OWNER_ONLY,
  'admin-keys.revoke': OWNER_ONLY,

  'members.list': EVERY_ROLE,
  'members.get': EVERY_ROLE,
  'members.keys': EVERY_ROLE,
  'members.create': OWNER_ONLY,
  'members.update': OWNER_ONLY,
  'members.delete': OWNER_ONLY,

  'prices.list': EVERY_ROLE,
  'prices.get': EVERY_ROLE,
  'prices.create': OWNER_ONLY,
  'prices.update': OWNER_ONLY,
  'prices.delete': OWNER_ONLY,

  'destinations.list': EVERY_ROLE,
  'destinations.list-refusals': EVERY_ROLE,
  'destinations.list-budgets': EVERY_ROLE,
  'destinations.get': EVERY_ROLE,
  'destinations.create': FROM_OPERATOR,
  'destinations.update': FROM_OPERATOR,
  'destinations.delete': FROM_OPERATOR,

  'binds.list': EVERY_ROLE,
  'binds.get': EVERY_ROLE,
  'binds.create': FROM_OPERATOR,
  'binds.update': FROM_OPERATOR,
  'binds.delete': FROM_OPERATOR,
  'binds.enable': FROM_OPERATOR,
  'binds.disable': FROM_OPERATOR,
  'binds.reconnect': FROM_OPERATOR,
  'binds.drain': FROM_OPERATOR,
  'binds.get-history': EVERY_ROLE,
  'binds.send-test': FROM_OPERATOR,
  'binds.get-trace': EVERY_ROLE,
  'binds.record-texts': FROM_OPERATOR,

  'smpp-systems.list': EVERY_ROLE,
  'smpp-systems.get': EVERY_ROLE,
  'smpp-systems.create': FROM_OPERATOR,
  'smpp-systems.update': FROM_OPERATOR,
  'smpp-systems.rotate': FROM_OPERATOR,
  'smpp-systems.delete': FROM_OPERATOR,

  'inbound-numbers.list': EVERY_ROLE,
  'inbound-numbers.get': EVERY_ROLE,
  'inbound-numbers.create': FROM_OPERATOR,
  'inbound-numbers.update': FROM_OPERATOR,
  'inbound-numbers.delete': FROM_OPERATOR,

  'routes.list': EVERY_ROLE,
  'routes.get': EVERY_ROLE,
  'routes.create': FROM_OPERATOR,
  'routes.update': FROM_OPERATOR,
  'routes.delete': FROM_OPERATOR,
  // Not `viewer`: the guard's answer depends on what the phone did.
  'routes.resolve': FROM_SUPPORT,

  'queues.list': EVERY_ROLE,
  'queues.get': EVERY_ROLE,
  'queues.pause': FROM_OPERATOR,
  'queues.resume': FROM_OPERATOR,
  'queues.retry-failed': FROM_OPERATOR,

  'gateways.list': EVERY_ROLE,
  'gateways.get': EVERY_ROLE,

  'sessions.list': EVERY_ROLE,
  'sessions.get': EVERY_ROLE,
  'sessions.timeline': EVERY_ROLE,

  'messages.list': EVERY_ROLE,
  'messages.get': EVERY_ROLE,
  'messages.reveal': FROM_SUPPORT,

  'deliveries.list': EVERY_ROLE,
  'deliveries.get': EVERY_ROLE,
  'deliveries.retry': FROM_OPERATOR,

  'overview.list': EVERY_ROLE,

  'audit.list': EVERY_ROLE,
} as const satisfies Readonly<Record<string, readonly AdminRole[]>>;

export type AdminPermission = keyof typeof ADMIN_POLICY;

/** The resources that have a permission for an action. */
export type ResourceWith<Action extends string> = AdminPermission extends infer Permission
  ? Permission extends `${infer Resource}.${Action}`
    ? Resource
    : never
  : never;

/** Rights that are needed for parameters, fields or parts of an answer, beside the permission of the route. */
export const ADMIN_RIGHTS = {
  /** Full phone numbers and session metadata. Without it phones are masked and metadata is empty. */
  readPersonalData: FROM_SUPPORT,
  /** The filter `phone` of lists. */
  searchByPhone: FROM_SUPPORT,
  /** Message texts in traces, and therefore capture files. */
  readRecordedTexts: FROM_OPERATOR,
  /** The digits of codes in revealed texts. */
  readCodes: OWNER_ONLY,
  /** Changes of `trustedForMo`, and of the fields that TRUST_POLICY lists for trusted messages. */
  changeTrust: OWNER_ONLY,
} as const satisfies Readonly<Record<string, readonly AdminRole[]>>;

export type AdminRight = keyof typeof ADMIN_RIGHTS;

/** A query parameter that needs a right: with any value, or only with `value` where it is set. */
export interface RestrictedParameter {
  readonly name: string;
  readonly value?: string;
  readonly right: AdminRight;
}

export const rolesOf = (permission: AdminPermission): readonly AdminRole[] => ADMIN_POLICY[permission];

export const mayCall = (role: AdminRole, permission: AdminPermission): boolean => rolesOf(permission).includes(role);

export function hasRight(role: AdminRole, right: AdminRight): boolean {
  const roles: readonly AdminRole[] = ADMIN_RIGHTS[right];
  return roles.includes(role);
}

export const isAdminPermission = (text: unknown): text is AdminPermission =>
  typeof text === 'string' && Object.hasOwn(ADMIN_POLICY, text);

/** The first restricted parameter of a parsed query that the role may not use, or null. */
export function refusedParameter(
  role: AdminRole,
  restricted: readonly RestrictedParameter[],
  query: unknown,
): RestrictedParameter | null {
  const given = new Map(Object.entries(query ?? {}) as [string, unknown][]);
  const refused = restricted.find(({ name, value, right }) => {
    const values = [given.get(name)].flat();
    return (
      values.some((each) => each !== undefined && (value === undefined || each === value)) && !hasRight(role, right)
    );
  });
  return refused ?? null;
}
