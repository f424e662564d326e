const SECOND_MS = 1_000;
/** Hosts remembered at most; beyond it the least recently sent to starts with a full bucket. */
const MAX_REMEMBERED = 10_000;

/**
 * Limits the POSTs per second to one host with a token bucket of one second's worth. A bucket is one number, the time at which
 * it is full again (GCRA), so that an idle host costs nothing.
 */
export class HostRate {
  /** Monotonic milliseconds, least recently sent to first. */
  private readonly fullAtMs = new Map<string, number>();
  private readonly stepMs: number;

  constructor(perSecond: number) {
    this.stepMs = SECOND_MS / perSecond;
  }

  /** Milliseconds until the next POST to the host may start: 0 for now. */
  waitMs(host: string, nowMs: number): number {
    const fullAtMs = this.fullAtMs.get(host) ?? nowMs;
    return Math.max(0, fullAtMs + this.stepMs - SECOND_MS - nowMs);
  }

  /** Counts one POST. */
  countSent(host: string, nowMs: number): void {
    const fullAtMs = Math.max(nowMs, this.fullAtMs.get(host) ?? nowMs) + this.stepMs;
    this.fullAtMs.delete(host);
    this.fullAtMs.set(host, fullAtMs);
    this.removeFull(nowMs);
  }

  /** Removes full buckets, which equal missing ones. Checks the two least recent hosts, so the map shrinks as fast as it grows. */
  private removeFull(nowMs: number): void {
    let checks = 2;
    for (const [host, fullAtMs] of this.fullAtMs) {
      if (checks-- === 0) return;
      if (fullAtMs > nowMs && this.fullAtMs.size <= MAX_REMEMBERED) return;
      this.fullAtMs.delete(host);
    }
  }
}
