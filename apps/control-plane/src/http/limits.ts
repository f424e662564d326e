import { USUAL_LIMITS, type ApiKeyPrincipal, type KeyLimits } from '@countersign/accounts/accounts';
import { ROOT_NAME } from '@countersign/accounts/admin-keys';
import { Limiter, type QuotaResult } from '@countersign/bus';
import { parseId, type Uuid } from '@countersign/ids';
import { tenantKey, type Tenant } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { networkOf } from '../targets/address-ranges.js';
import { RefusedRequest, type Refusal } from './errors.js';
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
const ADMIN_LIMIT = 6_000;
/** Wrong keys a minute from one address. */
const WRONG_KEYS_LIMIT = 60;
/** Subscribes a minute to one session by the holders of its tickets: same limit as GETs of a session by one key. */
const TICKET_LIMIT = USUAL_LIMITS.poll;

type KeyPolicy = keyof KeyLimits;

const perMinute = (name: string, limit: number): Policy => ({ name, limit, windowSeconds: WINDOW_SECONDS });
const ADMIN_POLICIES = policySet([perMinute('default', ADMIN_LIMIT)]);
const TICKET_POLICIES = policySet([perMinute('ticket', TICKET_LIMIT)]);
/**
 * Sign-ins of the console that one address begins, and by phone one site (an IPv6 /48, of which anybody gets one with its 65,536
 * clients): each has a row that is kept. Those over OpenID Connect cost nobody anything.
 */
const STARTS = { phone: 5, oidc: 60, 'second-step': 5 };
const STARTS_OF_SITE = 50;
const IPV6_SITE_BITS = 48;
const START_SECONDS = 600;
const START_POLICY = { name: 'start', limit: STARTS.phone, windowSeconds: START_SECONDS };
const START_POLICIES = {
  phone: policySet([START_POLICY]),
  oidc: policySet([{ ...START_POLICY, limit: STARTS.oidc }]),
  'second-step': policySet([{ ...START_POLICY, limit: STARTS['second-step'] }]),
};
const SITE_POLICIES = policySet([START_POLICY, { ...START_POLICY, name: 'site', limit: STARTS_OF_SITE }]);
/** Changes of an account and mode by itself: each has an entry in the audit log, which is kept for good. */
const CHANGES_LIMIT = 300;
const CHANGES_SECONDS = 3_600;
const CHANGE_POLICIES = policySet([{ name: 'change', limit: CHANGES_LIMIT, windowSeconds: CHANGES_SECONDS }]);
/** Calls of sign-ins a minute from one address: a page asks for the state every second or two. */
const SIGN_IN_CALLS_LIMIT = 120;
const SIGN_IN_POLICIES = policySet([perMinute('signin', SIGN_IN_CALLS_LIMIT)]);
const ADDRESS_POLICIES = policySet([perMinute('ip', WRONG_KEYS_LIMIT)]);

/** Result of counting a request: its rate limit headers, and the refusal when a quota is exhausted. */
export interface Counted {
  readonly headers: LimitHeaders;
  readonly refusal: Refusal | null;
  /** Whether the first of its quotas is exhausted, which counts all requests of the key or address. */
  readonly isUsedUp: boolean;
}

/** The refusal of a request without a valid key. */
export interface RefusedKey {
  readonly headers: LimitHeaders;
  readonly refused: RefusedRequest;
}

const TOO_MANY_SIGN_INS = 'Too many calls of sign-ins came from this address.';
const TOO_MANY_CHANGES = `Too many changes were made: ${CHANGES_LIMIT} an hour are allowed.`;
const TOO_MANY_WRONG_KEYS = 'Too many calls without a valid API key came from this address.';
const UNAUTHORIZED = RefusedRequest.withHeaders({ code: 'UNAUTHORIZED' }, { 'www-authenticate': 'Bearer' });

/** A key, and the quota that it uses. */
type QuotaUser = Pick<ApiKeyPrincipal, 'keyId' | 'limits' | 'quotaId' | 'tenant'>;

/** The holder of a key or ticket that subscribes on an open connection. */
export type Subscriber =
  | ({ readonly kind: 'key' } & QuotaUser)
  | { readonly kind: 'admin'; readonly keyId: Uuid | null }
  | { readonly kind: 'ticket'; readonly sessionId: Uuid };

/**
 * The quotas of the API: by key for authenticated requests, by address for the others. Refused requests count too, but
 * do not extend the window. No method rejects: without the limiter's store this process counts locally.
 */
@Injectable()
export class Limits {
  /** The policies of a key, by its own limits as last read, and by the second policy of the route. */
  private readonly sets = new WeakMap<KeyLimits, Map<KeyPolicy, PolicySet>>();

  constructor(private readonly limiter: Limiter) {}

  /**
   * Counts a request with a valid key; `route` is undefined when none matches, `sessionId` is the session of its path.
   */
  async countCall(caller: Caller, route: RouteAccess | undefined, sessionId: string | undefined): Promise<Counted> {
    if (caller.kind === 'admin') return this.countAdmin(caller.keyId);
    const keyed = route?.access === 'key' ? route : undefined;
    const counted = await this.countKey(caller, keyed?.policy, polled(sessionId));
    const unsure = counted.away && keyed?.withoutLimiter === 'refuse';
    return unsure ? { ...counted, refusal: counted.refusal ?? UNSURE } : counted;
  }

  /**
   * Counts a subscribe. Its snapshot costs as much as a GET, so a key is counted under the same policies: `default`,
   * and `poll` for a session. A ticket has no key, and one session.
   *
   * @param sessionId null for a channel that is no session
   */
  countSubscribe(subscriber: Subscriber, sessionId: Uuid | null): Promise<Counted> {
    switch (subscriber.kind) {
      case 'admin':
        return this.countAdmin(subscriber.keyId);
      case 'ticket':
        return this.count(TICKET_POLICIES, () => `ticket:${subscriber.sessionId}`);
      case 'key':
        return this.countKey(subscriber, sessionId === null ? undefined : 'poll', sessionId ?? '');
    }
  }

  /** Counts a request whose key is missing or wrong. Requests with a valid key are never counted or refused here. */
  countWrongKey(address: string): Promise<Counted> {
    return this.count(ADDRESS_POLICIES, () => addressKey(address));
  }

  /** As `countWrongKey`, with the refusal of the request. */
  async refuseKey(address: string): Promise<RefusedKey> {
    const { headers, refusal } = await this.countWrongKey(address);
    const refused = refusal === null ? UNAUTHORIZED : new RefusedRequest({ ...refusal, message: TOO_MANY_WRONG_KEYS });
    return { headers, refused };
  }

  /** Counts the begin of a sign-in of the console. */
  countStart(kind: 'phone' | 'oidc', address: string): Promise<Counted> {
    const site = networkOf(address, IPV6_SITE_BITS);
    // An IPv4 address is a site of its own.
    const set = kind === 'phone' && site?.includes(':') === true ? SITE_POLICIES : START_POLICIES[kind];
    return this.count(
      set,
      ({ name }) => `start:${kind}:${name === 'site' ? `site:${site ?? ''}` : addressKey(address)}`,
    );
  }

  /** Counts a second step of a holder, whose phone is bothered by each, and whose codes each of them may guess five times. */
  countSecondStep(holderId: Uuid): Promise<Counted> {
    return this.count(START_POLICIES['second-step'], () => `start:second-step:${holderId}`);
  }

  /** Counts a change that an account makes of itself, in one mode. */
  async countChange(tenant: Tenant): Promise<Counted> {
    return withMessage(await this.count(CHANGE_POLICIES, () => `change:${tenantKey(tenant)}`), TOO_MANY_CHANGES);
  }

  /** Counts a question for the state of a sign-in that has begun. */
  countSignInState(address: string): Promise<Counted> {
    return this.count(SIGN_IN_POLICIES, () => `sign-in:${addressKey(address)}`);
  }

  /** Counts a call of a sign-in that may have a body, whatever becomes of it. Questions for the state never use it up. */
  async countSignInPost(address: string): Promise<Counted> {
    return withMessage(
      await this.count(SIGN_IN_POLICIES, () => `sign-in-post:${addressKey(address)}`),
      TOO_MANY_SIGN_INS,
    );
  }

  /** The rate limit headers of a response that no quota counted. */
  async ofAddress(address: string): Promise<LimitHeaders> {
    return (await this.count(ADDRESS_POLICIES, () => addressKey(address), 0)).headers;
  }

  private countAdmin(keyId: Uuid | null): Promise<Counted> {
    return this.count(ADMIN_POLICIES, () => `default:admin:${keyId ?? ROOT_NAME}`);
  }

  /** @param polledSession the session by which `poll` counts */
  private countKey(
    key: QuotaUser,
    extra: Exclude<KeyPolicy, 'default'> | undefined,
    polledSession: string,
  ): Promise<Counted & { readonly away: boolean }> {
    const set = this.policiesOf(key.limits, extra);
    const quota = quotaOf(key);
    const keyOf = ({ name }: Policy): string =>
      name === 'poll' ? `poll:${quota}:${polledSession}` : `${name}:${quota}`;
    return extra === 'poll' ? this.countPoll(set, keyOf) : this.count(set, keyOf);
  }

  /**
   * Each session polled has a counter of its own, and its id may be invented. While the quota of the key is known to be used
   * up, `default` is counted first, and a refused request creates no counter: those of a window are as many as the quota.
   */
  private async countPoll(
    set: PolicySet,
    keyOf: (policy: Policy) => string,
  ): Promise<Counted & { readonly away: boolean }> {
    const [byKey, bySession] = set.policies;
    if (byKey === undefined || bySession === undefined) throw new Error('a poll has two policies');
    const isUsedUp = (this.limiter.lastConsumed(keyOf(byKey)) ?? 0) >= byKey.limit;
    if (!isUsedUp || this.limiter.lastConsumed(keyOf(bySession)) !== null) return this.count(set, keyOf);
    const result = await this.limiter.consume(keyOf(byKey), 1, byKey);
    const other = result.allowed
      ? await this.limiter.consume(keyOf(bySession), 1, bySession)
      : {
          allowed: true,
          remaining: bySession.limit - 1,
          resetMs: bySession.windowSeconds * 1_000,
          away: result.away,
        };
    return countedOf(set, [result, other]);
  }

  private async count(
    set: PolicySet,
    keyOf: (policy: Policy) => string,
    points = 1,
  ): Promise<Counted & { readonly away: boolean }> {
    return countedOf(
      set,
      await Promise.all(set.policies.map((policy) => this.limiter.consume(keyOf(policy), points, policy))),
    );
  }

  private policiesOf(limits: KeyLimits, extra: Exclude<KeyPolicy, 'default'> | undefined): PolicySet {
    let sets = this.sets.get(limits);
    if (sets === undefined) this.sets.set(limits, (sets = new Map<KeyPolicy, PolicySet>()));
    let set = sets.get(extra ?? 'default');
    if (set === undefined) {
      const names: readonly KeyPolicy[] = extra === undefined ? ['default'] : ['default', extra];
      set = policySet(names.map((name) => perMinute(name, limits[name] ?? USUAL_LIMITS[name])));
      sets.set(extra ?? 'default', set);
    }
    return set;
  }
}

/** The keys that the members of an account made share one quota for each mode. */
const quotaOf = ({ keyId, quotaId = keyId, tenant }: QuotaUser): string =>
  quotaId === tenant.accountId ? tenantKey(tenant) : quotaId;

const countedOf = (set: PolicySet, results: readonly QuotaResult[]): Counted & { readonly away: boolean } => ({
  headers: limitHeaders(set, results, Date.now()),
  refusal: refusalOf(results),
  isUsedUp: results[0]?.allowed === false,
  away: results.some(({ away }) => away),
});

const UNSURE: Refusal = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The limits of this call cannot be checked at the moment.',
};

/** Null when every policy allows the request; else retry when all exhausted windows have restarted. */
function refusalOf(results: readonly QuotaResult[]): Refusal | null {
  const exhausted = results.filter(({ allowed }) => !allowed);
  if (exhausted.length === 0) return null;
  return { code: 'RATE_LIMITED', retryAfterSeconds: Math.max(...exhausted.map(resetSeconds)) };
}

/** All malformed ids share one counter: a caller must not choose the length of the limiter's keys. */
const polled = (sessionId: string | undefined): string => parseId('sess', sessionId ?? '') ?? 'none';

const addressKey = (address: string): string => `ip:${networkOf(address) ?? 'unknown'}`;

/** The count, whose refusal has this message. */
const withMessage = ({ refusal, ...counted }: Counted, message: string): Counted => ({
  ...counted,
  refusal: refusal === null ? null : { ...refusal, message },
});
