/** A read that took this long is followed by a pause. An honest peer sends what takes a fraction of it. */
const LONG_READ_MS = 5;
/** The longest pause, below the time limits of responses and of PDUs that have arrived in part. */
const LONGEST_PAUSE_MS = 1_000;

/**
 * Long reads of all connections of a process together have half of its time. Without it a peer whose messages are answered at
 * once, as receipts that are not final, occupies the process: libuv reads up to 32 times 64 KiB of one socket, some 20,000
 * messages, before it looks at another.
 */
export class LongReads {
  #freeAtMs = Number.NEGATIVE_INFINITY;

  /**
   * After a read of a connection: how long nothing more is read from it, in milliseconds.
   *
   * @param startedMs when the read began, and `endedMs` when it was processed, of a monotonic clock
   */
  pauseMs(startedMs: number, endedMs: number): number {
    const tookMs = endedMs - startedMs;
    if (tookMs < LONG_READ_MS) return 0;
    const atMs = Math.min(Math.max(endedMs + tookMs, this.#freeAtMs), endedMs + LONGEST_PAUSE_MS);
    // The next read may take as long, and as long again is left to others.
    this.#freeAtMs = atMs + 2 * tookMs;
    return atMs - endedMs;
  }
}
