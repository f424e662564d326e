import type { KeyLimits } from '@countersign/accounts/accounts';
import { ROOT_NAME } from '@countersign/accounts/admin-keys';
import type { Limiter, QuotaResult } from '@countersign/bus';
import { parseId } from '@countersign/ids';
import { networkOf } from '../targets/address-ranges.js';
import type { Refusal } from './errors.js';
import {
  limitHeaders,
  type LimitHeaders,
  type Policy,
  policySet,
  type PolicySet,
  resetSeconds,
} from './limit-headers.js';
import type { Caller, RouteAccess } from './route-access.js';

const WINDOW_SECONDS = 60;
/** Requests a minute of a key that has no limits of its own (contract, General). */
const USUAL_LIMITS: Required<KeyLimits> = { default: 600, create: 300, poll: 60, usage: 60 };
const ADMIN_LIMIT = 6_000;
/** Wrong keys a minute from one address. */
const WRONG_KEYS_LIMIT = 60;

type KeyPolicy = keyof KeyLimits;

const perMinute = (name: string, limit: number): Policy => ({ name, limit, windowSeconds: WINDOW_SECONDS });
const ADMIN_POLICIES = policySet([perMinute('default', ADMIN_LIMIT)]);
const ADDRESS_POLICIES = policySet([perMinute('ip', WRONG_KEYS_LIMIT)]);

/** What became of counting a request: what its answer says about it, and why it may not go on, if it may not. */
export interface Counted {
  readonly headers: LimitHeaders;
  readonly refusal: Refusal | null;
}

/**
 * The quotas of the API: by key for who has one, by address for who has none. A refused request counts as well, but does
 * not move the end of its window. Nothing here rejects: without the limiter's store this process counts by itself.
 */
export class Limits {
  /** The policies of a key, by its own limits as they were read last, and by what the route is counted under besides. */
  private readonly sets = new WeakMap<KeyLimits, Map<KeyPolicy, PolicySet>>();

  constructor(private readonly limiter: Limiter) {}

  /** Counts a request with a valid key; `route` is undefined where there is none, `sessionId` what its path names. */
  async countCall(caller: Caller, route: RouteAccess | undefined, sessionId: string | undefined): Promise<Counted> {
    if (caller.kind === 'admin') return this.count(ADMIN_POLICIES, () => `default:admin:${caller.keyId ?? ROOT_NAME}`);
    const keyed = route?.access === 'key' ? route : undefined;
    const counted = await this.count(this.policiesOf(caller.limits, keyed?.policy), ({ name }) =>
      name === 'poll' ? `poll:${caller.keyId}:${polled(sessionId)}` : `${name}:${caller.keyId}`,
    );
    const unsure = counted.away && keyed?.withoutLimiter === 'refuse';
    return unsure ? { ...counted, refusal: counted.refusal ?? UNSURE } : counted;
  }

  /** Counts a request whose key is missing or wrong. Requests with a valid key are never counted here, nor refused. */
  countWrongKey(address: string): Promise<Counted> {
    return this.count(ADDRESS_POLICIES, () => addressKey(address));
  }

  /** What an answer says that no quota had a part in. */
  async ofAddress(address: string): Promise<LimitHeaders> {
    return (await this.count(ADDRESS_POLICIES, () => addressKey(address), 0)).headers;
  }

  private async count(
    set: PolicySet,
    keyOf: (policy: Policy) => string,
    points = 1,
  ): Promise<Counted & { readonly away: boolean }> {
    const standings = await Promise.all(
      set.policies.map((policy) => this.limiter.consume(keyOf(policy), points, policy)),
    );
    return {
      headers: limitHeaders(set, standings, Date.now()),
      refusal: refusalOf(standings),
      away: standings.some(({ away }) => away),
    };
  }

  private policiesOf(limits: KeyLimits, besides: Exclude<KeyPolicy, 'default'> | undefined): PolicySet {
    let sets = this.sets.get(limits);
    if (sets === undefined) this.sets.set(limits, (sets = new Map<KeyPolicy, PolicySet>()));
    let set = sets.get(besides ?? 'default');
    if (set === undefined) {
      const names: readonly KeyPolicy[] = besides === undefined ? ['default'] : ['default', besides];
      set = policySet(names.map((name) => perMinute(name, limits[name] ?? USUAL_LIMITS[name])));
      sets.set(besides ?? 'default', set);
    }
    return set;
  }
}

const UNSURE: Refusal = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The limits of this call cannot be checked at the moment.',
};

/** Null when every policy allows it; else it may come again when all that refused have begun anew. */
function refusalOf(standings: readonly QuotaResult[]): Refusal | null {
  const exhausted = standings.filter(({ allowed }) => !allowed);
  if (exhausted.length === 0) return null;
  return { code: 'RATE_LIMITED', retryAfterSeconds: Math.max(...exhausted.map(resetSeconds)) };
}

/** What is no id at all shares one count: a caller must not choose how long the limiter's keys are. */
const polled = (sessionId: string | undefined): string => parseId('sess', sessionId ?? '') ?? 'none';

const addressKey = (address: string): string => `ip:${networkOf(address) ?? 'unknown'}`;
