import type { Uuid } from '@countersign/ids';

/** Receipts a second of one system whose message is not known: each is a row for ten minutes. */
export const UNKNOWN_PER_SECOND = 100;
/** Burst: unknown receipts of this many seconds at the rate. */
const BURST_SECONDS = 2;
const MS_PER_SECOND = 1_000;
const PER_RECEIPT_MS = MS_PER_SECOND / UNKNOWN_PER_SECOND;
const BURST_MS = BURST_SECONDS * MS_PER_SECOND;
/** Maximum tracked systems; the least recently counted one is evicted for a new one. */
const MAX_SYSTEMS = 10_000;

/**
 * Limits the receipts of one system whose message is not known, with a token bucket per system: one number, the time at which
 * it is full again. Receipts are counted once their result is known, so those in flight may exceed the burst; the excess is
 * counted too, and delays the next ones. Receipts of known messages cost nothing. Times are of a monotonic clock.
 */
export class UnknownReceiptRate {
  readonly #fullAtMs = new Map<Uuid, number>();

  /** Whether a receipt of this system may be stored if its message is not known. */
  mayStore(systemId: Uuid, nowMs: number): boolean {
    const fullAtMs = this.#fullAtMs.get(systemId);
    return fullAtMs === undefined || fullAtMs - nowMs + PER_RECEIPT_MS <= BURST_MS;
  }

  /** Counts a receipt that was stored although its message is not known. */
  countUnknown(systemId: Uuid, nowMs: number): void {
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(systemId) ?? nowMs) + PER_RECEIPT_MS;
    this.#fullAtMs.delete(systemId);
    this.#fullAtMs.set(systemId, fullAtMs);
    const [oldest] = this.#fullAtMs.keys();
    if (this.#fullAtMs.size > MAX_SYSTEMS && oldest !== undefined) this.#fullAtMs.delete(oldest);
  }
}
