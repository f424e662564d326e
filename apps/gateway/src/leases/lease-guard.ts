import { HELD_FOR_SECONDS, type BindLease } from '@countersign/carriers/leases';

/** Leases are renewed this often. */
export const RENEW_EVERY_MS = 5_000;
/**
 * A lease counts as held for so long from the start of its last renewal that went well, by the monotonic clock. Shorter
 * than the lease itself by more than any transaction may take, so that what was begun under it ends under it.
 */
export const HELD_FOR_MS = HELD_FOR_SECONDS * 1_000;

/** What a gateway knows of a lease of its own without asking the database. */
export class LeaseGuard {
  #untilMs: number;

  /** `startedMs`: when the claim was sent. */
  constructor(
    readonly lease: BindLease,
    startedMs: number,
  ) {
    this.#untilMs = startedMs + HELD_FOR_MS;
  }

  /** When it counts as lost unless it is renewed. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** Whether this gateway may act on the connection. To be asked right before anything that cannot be taken back. */
  holds(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  /** `startedMs`: when the renewal was sent; an older one changes nothing, and what was given up stays so. */
  renewed(startedMs: number): void {
    if (this.#untilMs !== -Infinity) this.#untilMs = Math.max(this.#untilMs, startedMs + HELD_FOR_MS);
  }

  /** It is lost, or given back: from here on it holds nothing. */
  giveUp(): void {
    this.#untilMs = -Infinity;
  }
}
