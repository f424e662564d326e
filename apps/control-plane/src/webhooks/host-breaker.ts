/**
 * How a host took a POST: with success, with another answer, or with none, so that the POST held its place for nothing.
 * `unasked`: it never heard of it, by a fault of our own way out.
 */
export type Reply = 'well' | 'badly' | 'none' | 'unasked';

/** Without an answer in a row before a host is left alone: all that was under way to it, once. */
const BREAKS_AFTER = 5;
const FIRST_PAUSE_MS = 1_000;
/** No longer than a lease: what waits for the host is looked for in its time. */
const LONGEST_PAUSE_MS = 30_000;

/** What is known of a host that may be dead. */
export interface Breaker {
  /** Replies of `none` in a row. */
  readonly silences: number;
  /** Monotonic time until which nothing is sent; then one POST at a time asks whether it is back. */
  readonly pausedUntilMs: number;
}

export const CLOSED: Breaker = { silences: 0, pausedUntilMs: -Infinity };

/** `shut`: nothing is sent. `ajar`: one at a time. */
export type BreakerState = 'open' | 'ajar' | 'shut';

export function breakerState({ silences, pausedUntilMs }: Breaker, nowMs: number): BreakerState {
  if (silences < BREAKS_AFTER) return 'open';
  return nowMs < pausedUntilMs ? 'shut' : 'ajar';
}

/** The pause is over before its time; another silence makes the next as long as it would have been. */
export const askedEarly = (breaker: Breaker): Breaker =>
  breaker === CLOSED ? CLOSED : { ...breaker, pausedUntilMs: -Infinity };

/** Any answer opens it wholly; every one that is missing after the first few doubles the pause. */
export function afterReply(breaker: Breaker, reply: Reply, nowMs: number): Breaker {
  if (reply === 'unasked') return breaker;
  if (reply !== 'none') return CLOSED;
  // POSTs that were under way when the pause began say nothing new.
  if (breakerState(breaker, nowMs) === 'shut') return breaker;
  const silences = breaker.silences + 1;
  const pauseMs = FIRST_PAUSE_MS * 2 ** Math.min(Math.max(0, silences - BREAKS_AFTER), 10);
  const pausedUntilMs = silences < BREAKS_AFTER ? -Infinity : nowMs + Math.min(pauseMs, LONGEST_PAUSE_MS);
  return { silences, pausedUntilMs };
}
