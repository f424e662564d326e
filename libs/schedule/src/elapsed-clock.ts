/** Times of this machine, in milliseconds. */
export interface MachineClocks {
  /** Stands still while a virtual machine is suspended (CLOCK_MONOTONIC). */
  monotonicMs(): number;
  wallMs(): number;
}

/** A wall clock that is ahead by more was set, or the machine was suspended; a correction of the clock is smaller. */
const MAX_CORRECTION_MS = 1_000;

/**
 * Elapsed time for leases: the monotonic clock, plus the time for which the machine was suspended. That is not distinguished from a
 * wall clock that was set forward: a lease then counts as lost early, never as held too long.
 */
export class ElapsedClock {
  #monotonicMs: number;
  #wallMs: number;
  #suspendedMs = 0;

  constructor(private readonly clocks: MachineClocks) {
    this.#monotonicMs = clocks.monotonicMs();
    this.#wallMs = clocks.wallMs();
  }

  /** Time for which the machine was suspended since this clock was made, as far as known. */
  get suspendedMs(): number {
    return this.#suspendedMs;
  }

  /** Without suspension the time of the monotonic clock. */
  nowMs(): number {
    const monotonicMs = this.clocks.monotonicMs();
    const wallMs = this.clocks.wallMs();
    const elapsedMs = monotonicMs - this.#monotonicMs;
    const aheadMs = wallMs - this.#wallMs - elapsedMs;
    // A monotonic clock goes back only when a test replaces it.
    if (elapsedMs >= 0 && aheadMs > MAX_CORRECTION_MS) this.#suspendedMs += aheadMs;
    this.#monotonicMs = monotonicMs;
    this.#wallMs = wallMs;
    return monotonicMs + this.#suspendedMs;
  }
}

const clock = new ElapsedClock({ monotonicMs: () => performance.now(), wallMs: () => Date.now() });

/** The elapsed time of this process, in milliseconds since its start. */
export const elapsedMs = (): number => clock.nowMs();
