import { TokenBucket } from '@countersign/resilience';
import { textField } from '@countersign/smpp/messages';
import type { MessagePdu } from '@countersign/smpp/pdu';

/** Limits the messages per second of a system over all its connections to this gateway, with a burst of one second. */
export class MessageRate {
  /** Null for no limit. */
  #bucket: TokenBucket | null;
  #perSecond: number;

  /** Infinity for no limit. */
  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#bucket = bucketOf(perSecond, nowMs);
  }

  /** Sets the rate. Tokens above the new capacity are lost; none are added. */
  setLimit(perSecond: number, nowMs: number): void {
    if (perSecond === this.#perSecond) return;
    this.#perSecond = perSecond;
    if (this.#bucket === null || !Number.isFinite(perSecond)) {
      this.#bucket = bucketOf(perSecond, nowMs);
    } else {
      this.#bucket.setRate(perSecond, nowMs);
      this.#bucket.setCapacity(capacityOf(perSecond));
    }
  }

  /** Takes the tokens of a message if there is one; those beyond what is there delay the next message. */
  takeTokens(nowMs: number, tokens: number): boolean {
    return this.#bucket?.take(nowMs, tokens) ?? true;
  }
}

function bucketOf(perSecond: number, nowMs: number): TokenBucket | null {
  if (!Number.isFinite(perSecond)) return null;
  return new TokenBucket({ perSecond, capacity: capacityOf(perSecond), tokens: perSecond }, nowMs);
}

/** Octets of text for one token: no SMS is longer. */
const OCTETS_PER_TOKEN = 255;

/** Tokens of a message or receipt: one for every started 255 octets of its text. */
export const tokensOf = (pdu: MessagePdu): number => Math.max(1, Math.ceil(textField(pdu).length / OCTETS_PER_TOKEN));

/** One second of messages, and at least one message. */
const capacityOf = (perSecond: number): number => Math.max(1, perSecond);

/**
 * A gateway's share of a system's rate, in proportion to its share of the system's connections. Null (no limit) returns
 * Infinity.
 */
export function shareOfRate(perSecond: number | null, here: number, elsewhere: number): number {
  return perSecond === null ? Infinity : (perSecond * here) / Math.max(1, here + elsewhere);
}
