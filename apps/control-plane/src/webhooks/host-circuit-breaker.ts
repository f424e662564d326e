import { CircuitBreaker, doubledMs } from '@countersign/resilience';

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

/** The circuit breaker of a healthy host. */
export const hostBreaker = (): CircuitBreaker => new CircuitBreaker(FAILURES_TO_OPEN);

/** A response closes the breaker; each missing one after FAILURES_TO_OPEN doubles the pause. */
export function recordReply(breaker: CircuitBreaker, reply: ReplyKind, nowMs: number): void {
  if (reply === 'not_sent') return;
  if (reply !== 'no_response') breaker.recordSuccess();
  // POSTs that were in flight when the breaker opened say nothing new.
  else if (breaker.state(nowMs) !== 'open') breaker.recordFailure(nowMs, pauseMs);
}

const pauseMs = (openings: number): number => doubledMs(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, openings);
