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
  #heldUntilMs: number;

  /** `startedMs`: when the claim was sent. */
  constructor(
    readonly lease: BindLease,
    startedMs: number,
  ) {
    this.#heldUntilMs = startedMs + HELD_FOR_MS;
  }

  /** When it counts as lost unless it is renewed. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** Whether this gateway may act on the connection. To be asked right before anything that cannot be taken back. */
  isHeld(nowMs: number): boolean {
    return nowMs < this.#heldUntilMs;
  }

  /** `startedMs`: when the renewal was sent; an older one changes nothing, and what was given up stays so. */
  extend(startedMs: number): void {
    if (this.#heldUntilMs !== -Infinity) this.#heldUntilMs = Math.max(this.#heldUntilMs, startedMs + HELD_FOR_MS);
  }

  /** It is lost, or given back: from here on it holds nothing. */
  invalidate(): void {
    this.#heldUntilMs = -Infinity;
  }
}
