/** How far back a quick look reads: looks follow each other within seconds. */
export const QUICK_LOOK_SECONDS = 120;
/** Every past time, also of rows that a stolen role has set to the year 1. */
const ALL = null;
/** A look at all past times is followed by quick ones for so many times its own duration, so a long one takes 5 % of the time. */
const QUICK_FACTOR = 20;
/** Up to this duration a look is no burden: quick ones follow it for MAX_QUICK_MS at most. */
const LIGHT_LOOK_MS = 500;
const MAX_QUICK_MS = 2_000;

/**
 * How far back the looks of one process for due rows read. An index by time keeps the entries of finished rows while a transaction
 * with an older snapshot is open, and a look at all past times reads past all of them. So quick looks follow it, unless it found
 * more than it could take.
 */
export class QuickLooks {
  /** On the clock of `performance.now()`. */
  #quickUntilMs = -Infinity;

  /**
   * Runs a look and resolves with its result.
   *
   * @param all whether it must read all past times
   * @param read gets the number of seconds to read back, or null for all past times
   * @param isBehind whether rows may be left that a quick look would not find
   */
  async look<Found>(
    all: boolean,
    read: (seconds: number | null) => Promise<Found>,
    isBehind: (found: Found) => boolean = () => false,
  ): Promise<Found> {
    const startedMs = performance.now();
    if (!all && startedMs < this.#quickUntilMs) return read(QUICK_LOOK_SECONDS);
    const found = await read(ALL);
    const endedMs = performance.now();
    const tookMs = endedMs - startedMs;
    const quickMs = Math.min(tookMs * QUICK_FACTOR, tookMs <= LIGHT_LOOK_MS ? MAX_QUICK_MS : Infinity);
    this.#quickUntilMs = isBehind(found) ? -Infinity : endedMs + quickMs;
    return found;
  }
}
