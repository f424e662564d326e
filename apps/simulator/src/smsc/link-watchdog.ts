import type { SmscLink } from './smsc.link.js';

export interface LinkLimits {
  /** A connection that has not bound within this time is closed. */
  readonly bindWithinMs: number;
  /**
   * Time for received octets to become a PDU: after it, npm `smpp` has lost its position in the stream and would
   * receive nothing more.
   */
  readonly pduWithinMs: number;
  readonly watchEveryMs: number;
}
export const LINK_LIMITS: LinkLimits = { bindWithinMs: 10_000, pduWithinMs: 5_000, watchEveryMs: 1_000 };

/** Closes a connection that has not bound in time, or whose octets have not become a PDU in time. */
export class LinkWatchdog {
  #behindSinceMs: number | null = null;
  readonly #openedMs = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly link: SmscLink,
    private readonly limits: LinkLimits = LINK_LIMITS,
  ) {
    this.#timer = setInterval(() => this.#look(performance.now()), limits.watchEveryMs).unref();
  }

  /** Call when the connection has closed. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #look(nowMs: number): void {
    if (this.link.bindType === null && nowMs - this.#openedMs > this.limits.bindWithinMs) {
      this.link.destroy('no bind in time');
      return;
    }
    if (this.link.hasUndecodedOctets) this.#behindSinceMs ??= nowMs;
    else this.#behindSinceMs = null;
    if (this.#behindSinceMs !== null && nowMs - this.#behindSinceMs > this.limits.pduWithinMs) {
      this.link.destroy('no PDU in time');
    }
  }
}
