import type { Mode, Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';

/** Scopes of a key (contract, Authentication): sessions, codes, usage, realtime, webhook deliveries, the account itself. */
export const SCOPES = ['verify', 'otp', 'usage', 'realtime', 'webhooks', 'account'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a new key for which none are named: all but `account`, which can create keys. */
export const DEFAULT_SCOPES = SCOPES.filter((scope) => scope !== 'account');

/** The quotas of a key (contract, General). */
export const LIMIT_NAMES = ['default', 'create', 'poll', 'usage'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Requests per minute of a key, where they differ from the usual limits. */
export type KeyLimits = Partial<Readonly<Record<LimitName, number>>>;

/** Requests per minute of a key without limits of its own (contract, General). */
export const USUAL_LIMITS: Required<KeyLimits> = { default: 600, create: 300, poll: 60, usage: 60 };

export const withUsualLimits = (limits: KeyLimits): Required<KeyLimits> => ({ ...USUAL_LIMITS, ...limits });

/** Of each limit of two keys the lower one; those that are as usual are left out. */
export function lowerLimits(limits: KeyLimits, others: KeyLimits): KeyLimits {
  const [one, other] = [withUsualLimits(limits), withUsualLimits(others)];
  const lower = LIMIT_NAMES.map((name) => [name, Math.min(one[name], other[name])] as const);
  return Object.fromEntries(lower.filter(([name, limit]) => limit !== USUAL_LIMITS[name]));
}

/** The limits of a key: no higher than those of the key whose quota it uses; null for a quota of its own. */
export const limitsInQuota = (limits: KeyLimits, limitsOfQuota: KeyLimits | null): KeyLimits =>
  limitsOfQuota === null ? limits : lowerLimits(limits, limitsOfQuota);

/** The authenticated caller of a request. */
export interface ApiKeyPrincipal {
  readonly keyId: Uuid;
  readonly kind: Mode;
  /** The account in the mode of the key: the key can read and change nothing else. */
  readonly tenant: Tenant;
  readonly scopes: readonly Scope[];
  readonly limits: KeyLimits;
  /** The key, or the account, whose quota its requests use (ApiKeyEntity); absent for its own. */
  readonly quotaId?: Uuid;
}
