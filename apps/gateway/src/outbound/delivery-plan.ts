import type { BindLease } from '@countersign/carriers/leases';
import type { DeliveryPlan, DueMessage, PlannedAttempt } from '@countersign/carriers/outbound';
import type { Route } from '@countersign/carriers/routes';
import { doubledMs, withJitterMs } from '@countersign/resilience';

/** A message of unknown fate is sent once more, and no more: a second copy is a nuisance, a third is a fault. */
const UNKNOWN_FATES_AT_MOST = 1;
/** Below this the phone would ring too late. */
const LEAST_VALIDITY_MS = 1_000;
/** No bind of its routes is bound here: another gateway's may be, so it is due again before this one looks again. */
const LOOK_AWAY_MS = 500;
/** The better bind is bound to another gateway, which is told. */
const HAND_OVER_MS = 50;
/** Messages turned away, after which the next waits twice as long for a bind that has its hands full. */
const PAUSES_DOUBLE_EVERY = 20;
const LONGEST_PAUSE_MS = 2_000;
const BACKOFF_MS = 500;
const BACKOFF_CAP_MS = 8_000;

export const SESSION_OVER = 'SESSION_OVER';
export const EXPIRED = 'EXPIRED';
export const NO_ROUTE = 'NO_ROUTE';
export const UNKNOWN_FATE = 'UNKNOWN_FATE';

/** What a bind of this gateway can take now. */
export interface BindCapacity {
  readonly carrier: string;
  /** How long an attempt on it may take, at most. */
  readonly leaseSeconds: number;
  /** The connection that has the room. */
  readonly lease: BindLease;
}

export interface PlanFacts {
  /** The routes of the destination, best first. */
  readonly routes: readonly Route[];
  /** Null for a bind that cannot send from here; for how long, more or less, where it has its hands full. */
  readonly roomOf: (bindId: string) => BindCapacity | { readonly fullForMs: number } | null;
  /** How many were turned away by full binds before it: it waits for longer. */
  readonly rejectedConnections: number;
  /** Whether the message may be left to another gateway that can send by this bind. */
  readonly boundElsewhere: (bindId: string) => boolean;
  /** From 0 up to 1. */
  readonly chance: number;
}

/**
 * What becomes of a due message: the next route that has neither refused nor asked for time, by a bind with room; when
 * all have asked for time, again with growing pauses until the session is over. A bind that only another gateway is bound
 * to is left to that one. Nothing is sent for a session that is over.
 */
export function deliveryPlan(message: DueMessage, facts: PlanFacts): DeliveryPlan {
  const { routes, roomOf, boundElsewhere, chance } = facts;
  const leftMs = message.expiresAt.getTime() - message.now.getTime();
  const unrefused = routes.filter(({ id }) => !message.refusedRoutes.includes(id));
  const verdict = verdictOf(message, leftMs, routes.length, unrefused.length);
  if (verdict !== null) return { kind: 'fail', error: verdict };
  let fullForMs = Infinity;
  for (const route of unrefused) {
    if (message.busyRoutes.includes(route.id)) continue;
    const capacity = roomOf(route.bindId);
    if (capacity === null && boundElsewhere(route.bindId)) return waitFor(HAND_OVER_MS, leftMs, 'elsewhere');
    if (capacity === null) continue;
    if ('lease' in capacity) return attemptBy(route, capacity, message);
    fullForMs = Math.min(fullForMs, capacity.fullForMs);
  }
  if (message.busyRoutes.length > 0) return waitFor(backoffMs(message.attempts, chance), leftMs, 'afresh');
  if (fullForMs === Infinity) return waitFor(LOOK_AWAY_MS, leftMs, 'elsewhere');
  return waitFor(pauseMs(fullForMs, facts.rejectedConnections), leftMs);
}

/** Many that wait for one slow carrier are not looked at over and over: those behind wait longer, up to two seconds. */
const pauseMs = (fullForMs: number, rejectedConnections: number): number =>
  Math.min(LONGEST_PAUSE_MS, fullForMs * (1 + rejectedConnections / PAUSES_DOUBLE_EVERY));

/** Not beyond the end: who cannot be reached by then is told so. */
function waitFor(ms: number, leftMs: number, how?: 'afresh' | 'elsewhere'): DeliveryPlan {
  return { kind: 'wait', ms: Math.min(ms, leftMs), afresh: how === 'afresh', elsewhere: how === 'elsewhere' };
}

/** Why it is given up; null while it is not. */
function verdictOf(message: DueMessage, leftMs: number, routes: number, unrefused: number): string | null {
  if (message.unknownFates > UNKNOWN_FATES_AT_MOST) return UNKNOWN_FATE;
  if (leftMs < LEAST_VALIDITY_MS) return message.networkError ?? (routes === 0 ? NO_ROUTE : EXPIRED);
  if (!message.sessionLive) return SESSION_OVER;
  return routes > 0 && unrefused === 0 ? (message.networkError ?? NO_ROUTE) : null;
}

function attemptBy(route: Route, capacity: BindCapacity, message: DueMessage): PlannedAttempt {
  const source = route.sourceAddress ?? message.sender;
  return { kind: 'send', routeId: route.id, bindId: route.bindId, source, ...capacity };
}

/** Half a second, then twice as long each time, up to eight. */
export const backoffMs = (attempts: number, chance: number): number =>
  withJitterMs(doubledMs(BACKOFF_MS, BACKOFF_CAP_MS, attempts), chance);
