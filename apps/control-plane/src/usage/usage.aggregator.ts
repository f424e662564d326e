import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { HOUR_MS, isSettled } from './usage-window.js';
import type { UsageStore } from './usage.store.js';

const FOLD_INTERVAL_MS = 60_000;
/** Statement timeout for one hour. No request waits for it. */
const FOLD_TIMEOUT_MS = 300_000;
/** Hours that one run folds at most. If more are due, the next run follows at once. */
const MAX_HOURS = 48;

export interface UsageAggregatorOptions {
  readonly database: Pick<Database, 'maintenance'>;
  readonly store: UsageStore;
  readonly onError: (error: unknown) => void;
}

/**
 * Folds every hour into `usage_hours` once its sessions can no longer change, oldest first and without a gap, so that one
 * time separates folded hours from open ones. Any number of processes may run it; each hour is folded once.
 */
export class UsageAggregator {
  private readonly pollLoop: PollLoop;

  constructor(private readonly options: UsageAggregatorOptions) {
    this.pollLoop = new PollLoop({
      everyMs: FOLD_INTERVAL_MS,
      work: () => this.foldDueHours(),
      onError: options.onError,
    });
  }

  /** Folds the due hours, at most two days of them. Returns whether more are due. */
  async foldDueHours(): Promise<boolean> {
    const { database, store } = this.options;
    const clock = await store.clock();
    const firstMs = await store.nextHourToFold(clock);
    if (firstMs === null || !isSettled(firstMs, clock.nowMs)) return false;
    const endMs = firstMs + MAX_HOURS * HOUR_MS;
    let hourMs = firstMs;
    await database.maintenance(FOLD_TIMEOUT_MS, async (session) => {
      for (; hourMs < endMs && isSettled(hourMs, clock.nowMs); hourMs += HOUR_MS) await store.foldHour(session, hourMs);
    });
    return isSettled(hourMs, clock.nowMs);
  }

  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
