import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { HOUR_MS, isSettled } from './usage-window.js';
import type { UsageStore } from './usage.store.js';

const FOLD_INTERVAL_MS = 60_000;
/** What counting one hour may take. Nobody waits for it. */
const FOLD_TIMEOUT_MS = 300_000;
/** Hours counted on one connection; while there are more the next run follows at once. */
const MAX_HOURS = 48;

export interface UsageAggregatorOptions {
  readonly database: Pick<Database, 'maintenance'>;
  readonly store: UsageStore;
  readonly onError: (error: unknown) => void;
}

/**
 * Counts every hour once nothing of it can change any more, oldest first and without a gap, so that one moment tells
 * which are counted. Any number of processes may do it; each hour is counted once.
 */
export class UsageAggregator {
  private readonly periodic: PollLoop;

  constructor(private readonly options: UsageAggregatorOptions) {
    this.periodic = new PollLoop({
      everyMs: FOLD_INTERVAL_MS,
      work: () => this.foldDue(),
      onError: options.onError,
    });
  }

  /** Counts the hours that are due, up to two days of them; answers whether there are more. */
  async foldDue(): Promise<boolean> {
    const { database, store } = this.options;
    const clock = await store.clock();
    const firstMs = await store.nextHour(clock);
    if (firstMs === null || !isSettled(firstMs, clock.nowMs)) return false;
    const endMs = firstMs + MAX_HOURS * HOUR_MS;
    let hourMs = firstMs;
    await database.maintenance(FOLD_TIMEOUT_MS, async (session) => {
      for (; hourMs < endMs && isSettled(hourMs, clock.nowMs); hourMs += HOUR_MS) await store.fold(session, hourMs);
    });
    return isSettled(hourMs, clock.nowMs);
  }

  async stop(): Promise<void> {
    await this.periodic.stop();
  }
}
