import { TokenBucket } from '@countersign/resilience';

/** PDUs that are processed without a pause. */
export interface ReadRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Limits PDUs of one kind that are answered at once: beyond the rate nothing is read until it is kept again. */
export class ReadLimit {
  readonly #bucket: TokenBucket;
  #sinceRead = 0;

  /** Times are milliseconds of a monotonic clock. */
  constructor({ perSecond, burst }: ReadRate, nowMs: number) {
    this.#bucket = new TokenBucket({ perSecond, capacity: burst }, nowMs);
  }

  count(): void {
    this.#sinceRead++;
  }

  /** After a read: milliseconds to read nothing more; 0 while the peer keeps its rate. */
  pauseMs(nowMs: number): number {
    if (this.#sinceRead === 0) return 0;
    this.#bucket.take(nowMs, this.#sinceRead);
    this.#sinceRead = 0;
    return this.#bucket.waitMs(nowMs);
  }
}
