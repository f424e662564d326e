import { MAX_POSTPONED, MAX_READ_PAST, type DeliveryStore } from './delivery.store.js';
import type { PausedHost } from './per-host.scheduler.js';

/** Due deliveries to overloaded hosts up to which claims read past them, to find as many others. */
const MAX_OVERLOAD = MAX_READ_PAST / 2;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 60 * 60 * 1000;
/** Each next pause is longer by this factor while there are still too many. */
const GROWTH = 2;
/** Deliveries to overloaded hosts postponed in one transaction at most: reading past a large backlog is slow, so sets are large. */
const MAX_OVERLOAD_POSTPONED = 5_000;

/** Postpones deliveries to hosts without capacity: a claim has to read past all of them to find those to other hosts. */
export class Backlog {
  private pauseMs = FIRST_PAUSE_MS;

  constructor(private readonly store: Pick<DeliveryStore, 'countDueTo' | 'postponeDeliveries'>) {}

  /**
   * Postpones deliveries due to paused hosts, and those to hosts that answer but receive more than they process, if there are
   * very many. Resolves with their number: `MAX_POSTPONED` means that there may be more to postpone.
   */
  async postpone(paused: readonly PausedHost[], overloaded: readonly string[]): Promise<number> {
    const postponed = paused.length === 0 ? 0 : await this.store.postponeDeliveries(paused);
    return Math.max(postponed, await this.postponeOverload(overloaded));
  }

  private async postponeOverload(overloaded: readonly string[]): Promise<number> {
    const due = overloaded.length === 0 ? 0 : await this.store.countDueTo(overloaded, MAX_OVERLOAD);
    if (due < MAX_OVERLOAD) {
      this.pauseMs = FIRST_PAUSE_MS;
      return 0;
    }
    const pauseMs = this.pauseMs;
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * GROWTH);
    await this.store.postponeDeliveries(
      overloaded.map((host) => ({ host, leftMs: pauseMs })),
      MAX_OVERLOAD_POSTPONED,
    );
    return MAX_POSTPONED;
  }
}
