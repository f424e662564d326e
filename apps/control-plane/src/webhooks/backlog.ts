import { MAX_POSTPONED, type DeliveryStore } from './delivery.store.js';
import type { PausedHost } from './per-host.scheduler.js';

/** Due deliveries that every claim may have to look past for those of other hosts. */
const MAX_LOOKED_PAST = 20_000;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 60 * 60 * 1000;
/** So much longer is the next pause while there are still too many: of a great many most come back after an hour or so. */
const GROWTH = 2;
/** Put off at a time. What is long takes long to look past, so that small bites would be slow ones. */
const MAX_THINNED = 5_000;

/**
 * Keeps what waits for some hosts out of the way of the others: whoever looks for deliveries that are due to one host has to
 * look past those of hosts that can take no more now.
 */
export class Backlog {
  private pauseMs = FIRST_PAUSE_MS;

  constructor(private readonly store: Pick<DeliveryStore, 'dueTo' | 'postpone'>) {}

  /**
   * Puts off what is due to hosts that are left alone; and to hosts that answer, but for which more waits than they take,
   * where it is a great deal. Answers how many: as many as `MAX_POSTPONED` means that more may be worth it.
   */
  async putOff(paused: readonly PausedHost[], overloaded: readonly string[]): Promise<number> {
    const alone = paused.length === 0 ? 0 : await this.store.postpone(paused);
    return Math.max(alone, await this.thinOut(overloaded));
  }

  private async thinOut(overloaded: readonly string[]): Promise<number> {
    const due = overloaded.length === 0 ? 0 : await this.store.dueTo(overloaded, MAX_LOOKED_PAST);
    if (due < MAX_LOOKED_PAST) {
      this.pauseMs = FIRST_PAUSE_MS;
      return 0;
    }
    const pauseMs = this.pauseMs;
    this.pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * GROWTH);
    await this.store.postpone(
      overloaded.map((host) => ({ host, leftMs: pauseMs })),
      MAX_THINNED,
    );
    return MAX_POSTPONED;
  }
}
