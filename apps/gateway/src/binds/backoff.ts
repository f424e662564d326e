import { doubledMs, withJitterMs } from '@countersign/resilience';

/** Waits between attempts of one bind, as values: no clock and no chance in here, both come in as arguments. */

/** First wait after a link that could not be opened or was lost. */
export const RECONNECT_FIRST_MS = 500;
/** A carrier that comes back is bound again within this, its jitter and one connect time-out. */
export const RECONNECT_CAP_MS = 10_000;
/** A refused bind is a "no", not a silence: carriers lock accounts that keep knocking. */
export const STANDOFF_FIRST_MS = 10_000;
export const STANDOFF_CAP_MS = 300_000;
/** A link that held this long was healthy: what went wrong before it is forgotten. */
export const STABLE_MS = 60_000;

/** Command statuses of a bind_resp that mean "stand off": already bound, bind failed, wrong password, unknown system_id. */
export const STANDOFF_STATUSES: ReadonlySet<number> = new Set([0x05, 0x0d, 0x0e, 0x0f]);

/** Where one bind stands between its attempts. */
export interface Course {
  /** Failures since the last stable link. */
  readonly failures: number;
  /** Refusals in a row. */
  readonly refusals: number;
  /** Index into the bind's hosts that the next attempt uses. */
  readonly host: number;
}

export type AttemptEnd =
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'lost'; readonly boundMs: number };

export interface NextAttempt {
  readonly course: Course;
  readonly waitMs: number;
  readonly standoff: boolean;
}

export const FRESH_COURSE: Course = { failures: 0, refusals: 0, host: 0 };

/** Where the connection with this number begins: those of one bind are spread over its hosts. */
export function freshCourse(slot: number, hosts: number): Course {
  return { ...FRESH_COURSE, host: slot % Math.max(1, hosts) };
}

/** What follows the end of an attempt: hosts are taken in turn. `random` is in [0, 1). */
export function afterAttempt(course: Course, end: AttemptEnd, hosts: number, random: number): NextAttempt {
  const host = (course.host + 1) % Math.max(1, hosts);
  if (end.kind === 'refused' && STANDOFF_STATUSES.has(end.status)) {
    const refusals = course.refusals + 1;
    const waitMs = withJitterMs(doubledMs(STANDOFF_FIRST_MS, STANDOFF_CAP_MS, refusals), random);
    return { course: { failures: course.failures, refusals, host }, waitMs, standoff: true };
  }
  const wasStable = end.kind === 'lost' && end.boundMs >= STABLE_MS;
  const failures = wasStable ? 1 : course.failures + 1;
  const refusals = wasStable ? 0 : course.refusals;
  const waitMs = withJitterMs(doubledMs(RECONNECT_FIRST_MS, RECONNECT_CAP_MS, failures), random);
  return { course: { failures, refusals, host }, waitMs, standoff: false };
}
