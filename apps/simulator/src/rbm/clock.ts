/** A clock that tests can replace. */
export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Runs `what` later; returns the function that cancels it. `what` must not throw. */
  after(ms: number, what: () => void): () => void;
}

/** The maximum of setTimeout: a longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (ms, what) => {
    const timer = setTimeout(what, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
