import { TokenBucket } from '@countersign/resilience';

/** The platform publishes no limit; this one guards against faults of our own. */
export const CARDS_PER_SECOND = 1_000;
const FLOOR_PER_SECOND = 1;
/** Increase of the rate per second after it was halved. */
const RECOVERY_PER_SECOND = CARDS_PER_SECOND / 50;
/** Throttle answers within this time count as one. */
const HALVE_INTERVAL_MS = 1_000;
const MS_PER_SECOND = 1_000;

/**
 * The send rate of one agent on this gateway: a token bucket with a capacity of one second, refilled at a rate that is
 * halved when the platform throttles and recovers linearly. Times are monotonic milliseconds.
 */
export class AgentRate {
  #perSecond = CARDS_PER_SECOND;
  #recoveredMs: number;
  #halvedMs = -Infinity;
  readonly #bucket: TokenBucket;

  constructor(nowMs: number) {
    this.#recoveredMs = nowMs;
    this.#bucket = new TokenBucket({ perSecond: CARDS_PER_SECOND, capacity: CARDS_PER_SECOND }, nowMs);
  }

  /** Cards per second at this time. */
  perSecond(nowMs: number): number {
    this.recover(nowMs);
    return this.#perSecond;
  }

  hasToken(nowMs: number): boolean {
    this.recover(nowMs);
    return this.#bucket.waitMs(nowMs) === 0;
  }

  /** Takes one token; false when there is none. */
  takeToken(nowMs: number): boolean {
    this.recover(nowMs);
    return this.#bucket.take(nowMs);
  }

  /** Applies a throttle answer. */
  halve(nowMs: number): void {
    this.recover(nowMs);
    if (nowMs < this.#halvedMs + HALVE_INTERVAL_MS) return;
    this.#halvedMs = nowMs;
    this.setRate(Math.max(FLOOR_PER_SECOND, this.#perSecond / 2), nowMs);
  }

  private recover(nowMs: number): void {
    if (nowMs <= this.#recoveredMs) return;
    const gained = (RECOVERY_PER_SECOND * (nowMs - this.#recoveredMs)) / MS_PER_SECOND;
    this.#recoveredMs = nowMs;
    if (this.#perSecond < CARDS_PER_SECOND) this.setRate(Math.min(CARDS_PER_SECOND, this.#perSecond + gained), nowMs);
  }

  private setRate(perSecond: number, nowMs: number): void {
    this.#perSecond = perSecond;
    this.#bucket.setCapacity(perSecond);
    // Tokens accrued so far are those of the previous rate.
    this.#bucket.setRate(perSecond, nowMs);
  }
}
