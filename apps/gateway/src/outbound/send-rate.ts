import { TokenBucket } from '@countersign/resilience';

/** Capacity of the bucket as time at the rate; small, because carriers count messages in any second. */
const BURST_MS = 20;
/** At most one halving in this time: carriers count per second, and one burst must not halve the rate repeatedly. */
const HALVE_EVERY_MS = 1_000;
/** Lower bound of the halved rate, unless the agreed rate is lower. */
const FLOOR_PER_SECOND = 1;
const INCREASE_EVERY_MS = 5_000;
/** Increase as a share of the agreed rate. */
const INCREASE_SHARE = 0.1;
const MS_PER_SECOND = 1_000;

/**
 * Send rate of a connection: a token bucket filled at the present rate. The rate is halved when the carrier throttles and
 * rises again while it does not. Times are milliseconds of a monotonic clock.
 */
export class SendRate {
  /** Agreed messages per second. */
  #limit: number;
  /** Present messages per second. */
  #perSecond: number;
  readonly #bucket: TokenBucket;
  /** Time of the last halving. */
  #halvedMs = -Infinity;
  /** Time of the next increase. */
  #increaseMs = Infinity;

  /** The agreed rate, with one token. */
  constructor(limit: number, nowMs: number) {
    this.#limit = limit;
    this.#perSecond = limit;
    this.#bucket = new TokenBucket({ perSecond: limit, capacity: capacityOf(limit), tokens: 1 }, nowMs);
  }

  /** Messages per second at this time. */
  perSecond(nowMs: number): number {
    this.applyIncreases(nowMs);
    return this.#perSecond;
  }

  /** Whether the rate is below the agreed one. */
  isReduced(nowMs: number): boolean {
    return this.perSecond(nowMs) < this.#limit;
  }

  /** Sets the agreed rate; a reduced rate keeps its proportion to it. */
  setLimit(limit: number, nowMs: number): void {
    if (limit === this.#limit) return;
    this.applyIncreases(nowMs);
    const share = this.#perSecond / this.#limit;
    this.#limit = limit;
    this.setRate(Math.max(floorOf(limit), share * limit), nowMs);
  }

  /** Takes one token; false when there is none. */
  takeToken(nowMs: number): boolean {
    this.applyIncreases(nowMs);
    return this.#bucket.take(nowMs);
  }

  /** Milliseconds until a token is available; 0 when one is. */
  waitMs(nowMs: number): number {
    this.applyIncreases(nowMs);
    return this.#bucket.waitMs(nowMs);
  }

  /**
   * Applies a throttle response to a message sent at `sentMs`. A message sent before the last halving, or shortly after it,
   * does not halve the rate again, and only delays the next increase.
   */
  slow(sentMs: number, nowMs: number): void {
    this.applyIncreases(nowMs);
    this.#increaseMs = nowMs + INCREASE_EVERY_MS;
    if (sentMs < this.#halvedMs + HALVE_EVERY_MS) return;
    this.#halvedMs = nowMs;
    this.setRate(Math.max(floorOf(this.#limit), this.#perSecond / 2), nowMs);
    this.#bucket.empty();
  }

  /** Each step adds a tenth: at most ten steps. */
  private applyIncreases(nowMs: number): void {
    while (this.#increaseMs <= nowMs) {
      const atMs = this.#increaseMs;
      this.setRate(Math.min(this.#limit, this.#perSecond + this.#limit * INCREASE_SHARE), atMs);
      this.#increaseMs = this.#perSecond < this.#limit ? atMs + INCREASE_EVERY_MS : Infinity;
    }
  }

  private setRate(perSecond: number, atMs: number): void {
    this.#perSecond = perSecond;
    this.#bucket.setRate(perSecond, atMs);
    this.#bucket.setCapacity(capacityOf(perSecond));
  }
}

const capacityOf = (perSecond: number): number => Math.max(1, (perSecond * BURST_MS) / MS_PER_SECOND);
const floorOf = (limit: number): number => Math.min(FLOOR_PER_SECOND, limit);
