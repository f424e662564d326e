const MS_PER_SECOND = 1_000;

export interface TokenBucketOptions {
  /** Tokens added per second. */
  readonly perSecond: number;
  /** Tokens held at most: the largest burst. */
  readonly capacity: number;
  /** Tokens at the start; the capacity by default. */
  readonly tokens?: number;
}

/** A token bucket. Times are milliseconds of a monotonic clock. */
export class TokenBucket {
  #perSecond: number;
  #capacity: number;
  #tokens: number;
  #filledMs: number;

  constructor({ perSecond, capacity, tokens = capacity }: TokenBucketOptions, nowMs: number) {
    this.#perSecond = perSecond;
    this.#capacity = capacity;
    this.#tokens = tokens;
    this.#filledMs = nowMs;
  }

  /** Takes tokens if there is one; false when there is none. Those taken beyond what is there delay the next ones. */
  take(nowMs: number, tokens = 1): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Milliseconds until so many tokens are available; 0 when they are. */
  waitMs(nowMs: number, tokens = 1): number {
    this.#fill(nowMs);
    return this.#tokens >= tokens ? 0 : ((tokens - this.#tokens) / this.#perSecond) * MS_PER_SECOND;
  }

  /** Sets the rate from now on. */
  setRate(perSecond: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#perSecond = perSecond;
  }

  /** Tokens above the new capacity are lost. */
  setCapacity(capacity: number): void {
    this.#capacity = capacity;
    this.#tokens = Math.min(capacity, this.#tokens);
  }

  /** Removes all tokens. */
  empty(): void {
    this.#tokens = 0;
  }

  #fill(nowMs: number): void {
    if (nowMs <= this.#filledMs) return;
    const gained = ((nowMs - this.#filledMs) * this.#perSecond) / MS_PER_SECOND;
    this.#tokens = Math.min(this.#capacity, this.#tokens + gained);
    this.#filledMs = nowMs;
  }
}
