const SECOND_MS = 1_000;
/** Hosts that were sent something of late are remembered up to here; beyond it the one that was longest ago begins anew. */
const MAX_REMEMBERED = 10_000;

/**
 * How many POSTs a second a host gets: a bucket that holds one second's worth and fills as fast. Kept as one number per
 * host, the time at which its bucket is full again (GCRA), so that a host that rests costs nothing.
 */
export class HostRate {
  /** Monotonic, least lately sent to first. */
  private readonly fullAtMs = new Map<string, number>();
  private readonly stepMs: number;

  constructor(perSecond: number) {
    this.stepMs = SECOND_MS / perSecond;
  }

  /** For how long nothing may be sent to the host: 0 when it may be sent to now. */
  waitMs(host: string, nowMs: number): number {
    const fullAtMs = this.fullAtMs.get(host) ?? nowMs;
    return Math.max(0, fullAtMs + this.stepMs - SECOND_MS - nowMs);
  }

  /** One is sent. */
  take(host: string, nowMs: number): void {
    const fullAtMs = Math.max(nowMs, this.fullAtMs.get(host) ?? nowMs) + this.stepMs;
    this.fullAtMs.delete(host);
    this.fullAtMs.set(host, fullAtMs);
    this.forget(nowMs);
  }

  /** Hosts whose bucket is full again need no remembering; those sent to least lately are looked at, two for each that comes. */
  private forget(nowMs: number): void {
    let looks = 2;
    for (const [host, fullAtMs] of this.fullAtMs) {
      if (looks-- === 0) return;
      if (fullAtMs > nowMs && this.fullAtMs.size <= MAX_REMEMBERED) return;
      this.fullAtMs.delete(host);
    }
  }
}
