const MS_PER_SECOND = 1_000;

export interface KeyedTokenBucketsOptions {
  /** Tokens added per second. */
  readonly perSecond: number;
  /** Capacity of a bucket, as seconds at the rate. */
  readonly burstSeconds: number;
  /** Buckets remembered at most; beyond it the least recently used one starts full again. */
  readonly maxKeys: number;
}

/**
 * Token buckets of many keys with one rate. A bucket is one number, the time at which it is full again (GCRA), so that an
 * idle key costs nothing. Times are milliseconds of a monotonic clock.
 */
export class KeyedTokenBuckets {
  /** Least recently used first. */
  readonly #fullAtMs = new Map<string, number>();
  readonly #stepMs: number;
  readonly #burstMs: number;
  readonly #maxKeys: number;

  constructor({ perSecond, burstSeconds, maxKeys }: KeyedTokenBucketsOptions) {
    this.#stepMs = MS_PER_SECOND / perSecond;
    this.#burstMs = burstSeconds * MS_PER_SECOND;
    this.#maxKeys = maxKeys;
  }

  /** Milliseconds until the key has so many tokens; 0 when it has them. */
  waitMs(key: string, nowMs: number, tokens = 1): number {
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(key) ?? nowMs);
    return Math.max(0, fullAtMs + tokens * this.#stepMs - this.#burstMs - nowMs);
  }

  /** Takes tokens, even if there are none: the excess delays the next ones. */
  take(key: string, nowMs: number, tokens = 1): void {
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(key) ?? nowMs) + tokens * this.#stepMs;
    this.#fullAtMs.delete(key);
    this.#fullAtMs.set(key, fullAtMs);
    this.#removeFull(nowMs);
  }

  /** Removes full buckets, which equal missing ones. Checks the two least recent keys, so the map shrinks as fast as it grows. */
  #removeFull(nowMs: number): void {
    let checks = 2;
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (checks-- === 0) return;
      if (fullAtMs > nowMs && this.#fullAtMs.size <= this.#maxKeys) return;
      this.#fullAtMs.delete(key);
    }
  }
}
