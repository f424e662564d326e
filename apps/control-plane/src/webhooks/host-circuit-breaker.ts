/**
 * How a host answered a POST: with 2xx, with any other response, or not at all (timeout, refused or reset connection).
 * A 429 counts as `no_response`: the host asked for fewer requests.
 * `not_sent`: the POST failed before it reached the host (egress proxy or DNS), so it says nothing about the host.
 */
export type ReplyKind = 'success' | 'error_response' | 'no_response' | 'not_sent';

/** Consecutive POSTs without a response before the breaker opens: as many as one host has in flight. */
const FAILURES_TO_OPEN = 5;
const FIRST_PAUSE_MS = 1_000;
/** At most the lease of a delivery, so that deliveries held back by the breaker are claimed again in time. */
const LONGEST_PAUSE_MS = 30_000;

/** State of one host's breaker. A value: every function returns a new one. */
export interface Breaker {
  /** Consecutive POSTs without a response. */
  readonly failures: number;
  /** Monotonic milliseconds. Nothing is sent before; after it one POST at a time is the probe. */
  readonly openUntilMs: number;
}

export const CLOSED: Breaker = { failures: 0, openUntilMs: -Infinity };

/** `closed`: healthy. `open`: nothing is sent. `half_open`: one POST at a time, the probe. */
export type BreakerState = 'closed' | 'half_open' | 'open';

export function breakerState({ failures, openUntilMs }: Breaker, nowMs: number): BreakerState {
  if (failures < FAILURES_TO_OPEN) return 'closed';
  return nowMs < openUntilMs ? 'open' : 'half_open';
}

/** Ends the pause early, so that the next POST is a probe. If it fails, the next pause is as long as it would have been. */
export const probeNow = (breaker: Breaker): Breaker =>
  breaker === CLOSED ? CLOSED : { ...breaker, openUntilMs: -Infinity };

/** A response closes the breaker; each missing one after FAILURES_TO_OPEN doubles the pause. */
export function afterReply(breaker: Breaker, reply: ReplyKind, nowMs: number): Breaker {
  if (reply === 'not_sent') return breaker;
  if (reply !== 'no_response') return CLOSED;
  // POSTs that were in flight when the breaker opened.
  if (breakerState(breaker, nowMs) === 'open') return breaker;
  const failures = breaker.failures + 1;
  const pauseMs = FIRST_PAUSE_MS * 2 ** Math.min(Math.max(0, failures - FAILURES_TO_OPEN), 10);
  const openUntilMs = failures < FAILURES_TO_OPEN ? -Infinity : nowMs + Math.min(pauseMs, LONGEST_PAUSE_MS);
  return { failures, openUntilMs };
}
