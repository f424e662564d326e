/** Token bucket of a system: holds one second of messages and fills at the system's rate. */
interface Bucket {
  readonly tokens: number;
  readonly filledMs: number;
}

const MS_PER_SECOND = 1_000;

/** The bucket at `nowMs`, at most one second of messages and at least one message. */
export function filled(bucket: Bucket, perSecond: number, nowMs: number): Bucket {
  const gained = (Math.max(0, nowMs - bucket.filledMs) / MS_PER_SECOND) * perSecond;
  return { tokens: Math.min(Math.max(1, perSecond), bucket.tokens + gained), filledMs: nowMs };
}

/** Limits the messages per second of a system over all its connections to this gateway. */
export class MessageRate {
  #bucket: Bucket;
  #perSecond: number;

  /** Infinity for no limit. */
  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#bucket = { tokens: perSecond, filledMs: nowMs };
  }

  /** Sets the rate. Tokens above the new capacity are lost; none are added. */
  setLimit(perSecond: number, nowMs: number): void {
    if (perSecond === this.#perSecond) return;
    // An unlimited bucket has no finite number of tokens, so the new bucket starts full.
    this.#bucket = Number.isFinite(this.#perSecond)
      ? filled(this.#bucket, this.#perSecond, nowMs)
      : { tokens: perSecond, filledMs: nowMs };
    this.#perSecond = perSecond;
  }

  /** Takes one token; false when there is none. */
  takeToken(nowMs: number): boolean {
    if (!Number.isFinite(this.#perSecond)) return true;
    const { tokens, filledMs } = filled(this.#bucket, this.#perSecond, nowMs);
    if (tokens < 1) {
      this.#bucket = { tokens, filledMs };
      return false;
    }
    this.#bucket = { tokens: tokens - 1, filledMs };
    return true;
  }
}

/**
 * A gateway's share of a system's rate, in proportion to its share of the system's connections. Null (no limit) returns
 * Infinity.
 */
export function shareOfRate(perSecond: number | null, here: number, elsewhere: number): number {
  return perSecond === null ? Infinity : (perSecond * here) / Math.max(1, here + elsewhere);
}
