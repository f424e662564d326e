/** What a system may send: a bucket that holds a second's worth and is filled at its rate. */
interface Bucket {
  readonly tokens: number;
  readonly filledMs: number;
}

const MS_PER_SECOND = 1_000;

/** The bucket at this moment, never above a second's worth; of a rate below one, at least one message. */
export function filled(bucket: Bucket, perSecond: number, nowMs: number): Bucket {
  const gained = (Math.max(0, nowMs - bucket.filledMs) / MS_PER_SECOND) * perSecond;
  return { tokens: Math.min(Math.max(1, perSecond), bucket.tokens + gained), filledMs: nowMs };
}

/** How many messages a second are taken from a system, over all its connections to this gateway. */
export class MessageRate {
  #bucket: Bucket;
  #perSecond: number;

  /** Infinity for no limit. */
  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#bucket = { tokens: perSecond, filledMs: nowMs };
  }

  /** Holds from now on: what was saved up beyond the new rate is lost, and nothing is given for the change. */
  setLimit(perSecond: number, nowMs: number): void {
    if (perSecond === this.#perSecond) return;
    // Out of "no limit" nothing finite was saved up: a second's worth of the new rate is a fair start.
    this.#bucket = Number.isFinite(this.#perSecond)
      ? filled(this.#bucket, this.#perSecond, nowMs)
      : { tokens: perSecond, filledMs: nowMs };
    this.#perSecond = perSecond;
  }

  /** Takes one message, or answers false: it is too much. */
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
 * A gateway's part of a system's rate, by the part of its connections that it has: together the gateways take what one
 * may. Null is no limit, and Infinity here.
 */
export function shareOfRate(perSecond: number | null, here: number, elsewhere: number): number {
  return perSecond === null ? Infinity : (perSecond * here) / Math.max(1, here + elsewhere);
}
