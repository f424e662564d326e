/** Time, which a test may hold in its hand. */
export interface Clock {
  /** Since 1970. */
  nowMs(): number;
  /** Answers how to call it off. What is done must not throw. */
  after(ms: number, what: () => void): () => void;
}

/** What setTimeout takes: beyond it a timer would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (ms, what) => {
    const timer = setTimeout(what, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
