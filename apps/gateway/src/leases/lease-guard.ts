import { HELD_FOR_SECONDS, type BindLease } from '@countersign/carriers/leases';

/** Interval of lease renewals. */
export const RENEW_EVERY_MS = 5_000;
/**
 * A lease counts as held for this time from the start of its last successful renewal, by `elapsedMs`. Shorter than
 * the lease by more than any transaction may take, so that an operation started under the lease ends under it.
 */
export const HELD_FOR_MS = HELD_FOR_SECONDS * 1_000;

/** Local view of a lease held by this gateway, without a database read. */
export class LeaseGuard {
  #heldUntilMs: number;

  /** `startedMs`: time at which the claim was sent. */
  constructor(
    readonly lease: BindLease,
    startedMs: number,
  ) {
    this.#heldUntilMs = startedMs + HELD_FOR_MS;
  }

  /** Time at which the lease counts as lost unless renewed. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** Whether this gateway may act on the connection. Check right before every irreversible operation. */
  isHeld(nowMs: number): boolean {
    return nowMs < this.#heldUntilMs;
  }

  /** `startedMs`: time at which the renewal was sent. Never shortens the lease; an invalidated lease stays so. */
  extend(startedMs: number): void {
    if (this.#heldUntilMs !== -Infinity) this.#heldUntilMs = Math.max(this.#heldUntilMs, startedMs + HELD_FOR_MS);
  }

  /** The lease is lost or released: `isHeld` is false from now on. */
  invalidate(): void {
    this.#heldUntilMs = -Infinity;
  }
}
