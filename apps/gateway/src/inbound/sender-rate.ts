const MS_PER_SECOND = 1_000;
/** A sender may send so many seconds' worth at once. */
const BURST_SECONDS = 2;
/** Senders that are remembered, over all links; the one that sent longest ago is forgotten for a new one. */
const MAX_SENDERS = 20_000;

/**
 * How many messages one sender may send over one link: a token bucket for each pair, so that one phone cannot use up
 * what the others of its carrier need. A bucket is one number, the moment at which it will be full again.
 */
export class SenderRate {
  readonly #fullAtMs = new Map<string, number>();
  readonly #perMessageMs: number;
  readonly #burstMs: number;

  /** 0 for no limit. */
  constructor(
    perSecond: number,
    private readonly maxSenders: number = MAX_SENDERS,
  ) {
    this.#perMessageMs = perSecond === 0 ? 0 : MS_PER_SECOND / perSecond;
    this.#burstMs = BURST_SECONDS * MS_PER_SECOND;
  }

  /**
   * Counts one message, or answers false where it is one too many.
   *
   * @param source the sender's address as it came
   * @param nowMs by a monotonic clock
   */
  take(linkId: string, source: string, nowMs: number): boolean {
    if (this.#perMessageMs === 0) return true;
    const sender = `${linkId} ${source}`;
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(sender) ?? nowMs) + this.#perMessageMs;
    if (fullAtMs - nowMs > this.#burstMs) return false;
    // Set anew, so that the order of the map is that of the last messages.
    this.#fullAtMs.delete(sender);
    this.#fullAtMs.set(sender, fullAtMs);
    if (this.#fullAtMs.size > this.maxSenders) this.#forgetOldest();
    return true;
  }

  #forgetOldest(): void {
    const [oldest] = this.#fullAtMs.keys();
    if (oldest !== undefined) this.#fullAtMs.delete(oldest);
  }
}
