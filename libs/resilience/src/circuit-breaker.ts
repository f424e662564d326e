/** `closed`: healthy. `open`: nothing is sent. `half_open`: one send at a time, the probe. */
type BreakerState = 'closed' | 'half_open' | 'open';

/**
 * The circuit breaker of one destination. It opens after consecutive failures, for a time that its owner chooses; then it is
 * half open until a send succeeds, which closes it, or fails, which opens it again. Times are monotonic milliseconds.
 */
export class CircuitBreaker {
  #failures = 0;
  /** Openings since it was last closed. */
  #openings = 0;
  #openedMs = -Infinity;
  #openUntilMs = -Infinity;
  /** End of the time of the current probe. */
  #probeUntilMs = -Infinity;

  /** @param failuresToOpen consecutive failures that open it */
  constructor(private readonly failuresToOpen: number) {}

  /** Whether no send failed since the last success. */
  get isPristine(): boolean {
    return this.#failures === 0;
  }

  /** Time of the last opening; -Infinity while closed. */
  get openedMs(): number {
    return this.#openedMs;
  }

  /** End of the open time; -Infinity while closed. */
  get openUntilMs(): number {
    return this.#openUntilMs;
  }

  state(nowMs: number): BreakerState {
    if (this.#openings === 0) return 'closed';
    return nowMs < this.#openUntilMs ? 'open' : 'half_open';
  }

  /**
   * Whether a send may start: any while closed, one at a time while half open. A probe without a result is replaced after
   * `probeMs`. An owner that limits probes by itself uses `state` alone.
   */
  admit(nowMs: number, probeMs: number): boolean {
    const state = this.state(nowMs);
    if (state === 'closed') return true;
    if (state === 'open' || nowMs < this.#probeUntilMs) return false;
    this.#probeUntilMs = nowMs + probeMs;
    return true;
  }

  /** Closes the breaker. */
  recordSuccess(): void {
    this.#failures = 0;
    this.#openings = 0;
    this.#openedMs = -Infinity;
    this.#openUntilMs = -Infinity;
    this.#probeUntilMs = -Infinity;
  }

  /**
   * Counts a failed send. Sends that were under way when the breaker opened are for the owner to leave out.
   *
   * @param openMs the open time of the n-th opening in a row, n from 1
   * @param atOnce opens whatever the number of failures
   */
  recordFailure(nowMs: number, openMs: (openings: number) => number, atOnce = false): void {
    this.#failures += 1;
    if (this.#openings === 0 && !atOnce && this.#failures < this.failuresToOpen) return;
    this.#openings += 1;
    this.#openedMs = nowMs;
    this.#openUntilMs = nowMs + openMs(this.#openings);
    this.#probeUntilMs = -Infinity;
  }

  /** Ends the open time early. If the probe fails, the next open time is as long as it would have been. */
  halfOpen(): void {
    this.#openUntilMs = -Infinity;
  }
}
