import type { SendingLink } from '../leases/index.js';
import { ATTEMPT_ERRORS, type MtPlan, type DueMessage, type PlannedAttempt } from '../outbound/index.js';
import type { Route } from '../routes/index.js';
import type { Uuid } from '@countersign/ids';
import { doubledMs, withJitterMs } from '@countersign/resilience';

/** Attempts of unknown fate after which a message is sent once more; beyond this number it fails. */
const UNKNOWN_FATES_AT_MOST = 1;
/** With less time left the message would arrive too late. */
const LEAST_VALIDITY_MS = 1_000;
/** Delay when no link of the routes is bound at this gateway; shorter than this gateway's own retry, for other gateways. */
const NO_BIND_PAUSE_MS = 500;
/** Delay when a better link is bound at another gateway, which is notified. */
const HAND_OVER_PAUSE_MS = 50;
/** Deferred messages per added base delay of a full link: with 20 the delay is twice its base, with 40 three times. */
const DEFERRED_PER_ADDED_PAUSE = 20;
const LONGEST_PAUSE_MS = 2_000;
const BACKOFF_MS = 500;
const BACKOFF_CAP_MS = 8_000;

export const SESSION_OVER = 'SESSION_OVER';
export const EXPIRED = ATTEMPT_ERRORS.expired;
export const NO_ROUTE = 'NO_ROUTE';
export const UNKNOWN_FATE = 'UNKNOWN_FATE';

/** Free capacity of a bind or a system at this gateway. */
export interface LinkCapacity {
  readonly carrier: string;
  /** Maximum duration of an attempt. */
  readonly leaseSeconds: number;
  /** The connection with the capacity, or the system. */
  readonly link: SendingLink;
}

/** The bind or the system of a route: exactly one of them. */
export type RouteTarget = Pick<Route, 'bindId' | 'systemId'>;

export interface PlanFacts {
  /** The routes of the destination, best first. */
  readonly routes: readonly Route[];
  /** Null for a bind or system that cannot send from this gateway; `fullForMs` estimates how long it stays full. */
  readonly capacityOf: (target: RouteTarget) => LinkCapacity | { readonly fullForMs: number } | null;
  /** Number of messages deferred because of full links before this one; it lengthens the delay. */
  readonly deferred: number;
  /** Whether the message may be left to another gateway that is bound to this bind, or has this system connected. */
  readonly boundElsewhere: (linkId: Uuid) => boolean;
  /** In [0, 1). */
  readonly random: number;
}

/** Whether a route that has not refused the message can be used now. */
export type RouteVerdict =
  | { readonly kind: 'usable'; readonly capacity: LinkCapacity }
  /** It answered busy since all routes were last tried. */
  | { readonly kind: 'busy' }
  /** Its bind is not bound, or its system not connected. */
  | { readonly kind: 'unbound' }
  /** The same, at this gateway alone. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'full'; readonly fullForMs: number };

export function judgeRoute(
  route: Route,
  { busyRoutes }: Pick<DueMessage, 'busyRoutes'>,
  { capacityOf, boundElsewhere }: Pick<PlanFacts, 'capacityOf' | 'boundElsewhere'>,
): RouteVerdict {
  if (busyRoutes.includes(route.id)) return { kind: 'busy' };
  const capacity = capacityOf(route);
  if (capacity === null) return { kind: isBoundElsewhere(route, boundElsewhere) ? 'elsewhere' : 'unbound' };
  return 'link' in capacity ? { kind: 'usable', capacity } : { kind: 'full', ...capacity };
}

/**
 * Plans a due message: an attempt on the next route that is neither refused nor busy and whose bind or system has capacity. When all
 * remaining routes are busy, they are tried again with growing delays until the session ends. A message whose better link
 * is bound at another gateway is left to that gateway. A message of an ended session fails.
 */
export function mtPlan(message: DueMessage, facts: PlanFacts): MtPlan {
  const { routes, random } = facts;
  const leftMs = message.expiresAt.getTime() - message.now.getTime();
  const remaining = routes.filter(({ id }) => !message.refusedRoutes.includes(id));
  const verdict = verdictOf(message, leftMs, routes.length, remaining.length);
  if (verdict !== null) return { kind: 'fail', error: verdict };
  let fullForMs = Infinity;
  for (const route of remaining) {
    const judged = judgeRoute(route, message, facts);
    if (judged.kind === 'elsewhere') return waitFor(HAND_OVER_PAUSE_MS, leftMs, 'elsewhere');
    if (judged.kind === 'usable') return attemptBy(route, judged.capacity, message);
    if (judged.kind === 'full') fullForMs = Math.min(fullForMs, judged.fullForMs);
  }
  if (message.busyRoutes.length > 0) return waitFor(backoffMs(message.attempts, random), leftMs, 'afresh');
  if (fullForMs === Infinity) return waitFor(NO_BIND_PAUSE_MS, leftMs, 'elsewhere');
  return waitFor(pauseMs(fullForMs, facts.deferred), leftMs);
}

/** Delay for a full link: later messages in a long backlog wait longer, up to two seconds, to limit repeated polls. */
const pauseMs = (fullForMs: number, deferred: number): number =>
  Math.min(LONGEST_PAUSE_MS, fullForMs * (1 + deferred / DEFERRED_PER_ADDED_PAUSE));

function isBoundElsewhere({ bindId, systemId }: RouteTarget, boundElsewhere: PlanFacts['boundElsewhere']): boolean {
  const linkId = bindId ?? systemId;
  return linkId !== null && boundElsewhere(linkId);
}

/** A wait that ends with the message's validity at the latest, so that it fails in time. */
function waitFor(ms: number, leftMs: number, then?: 'afresh' | 'elsewhere'): MtPlan {
  return { kind: 'wait', ms: Math.min(ms, leftMs), afresh: then === 'afresh', elsewhere: then === 'elsewhere' };
}

/** The error of a message that fails; null if it does not. */
function verdictOf(message: DueMessage, leftMs: number, routes: number, remaining: number): string | null {
  if (message.unknownFates > UNKNOWN_FATES_AT_MOST) return UNKNOWN_FATE;
  if (leftMs < LEAST_VALIDITY_MS) return message.networkError ?? (routes === 0 ? NO_ROUTE : EXPIRED);
  if (!message.sessionLive) return SESSION_OVER;
  return routes > 0 && remaining === 0 ? (message.networkError ?? NO_ROUTE) : null;
}

function attemptBy(route: Route, capacity: LinkCapacity, message: DueMessage): PlannedAttempt {
  const source = route.sourceAddress ?? message.sender;
  const { id: routeId, submitOptions } = route;
  return { kind: 'send', routeId, source, submitOptions, ...capacity };
}

/** Delay before all routes are tried again: 0.5 s doubled up to 8 s, with jitter. */
export const backoffMs = (attempts: number, random: number): number =>
  withJitterMs(doubledMs(BACKOFF_MS, BACKOFF_CAP_MS, attempts), random);
