import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { HOUR_MS, isSettled } from './usage-window.js';
import { UsageStore } from './usage.store.js';

const FOLD_INTERVAL_MS = 60_000;
/** Statement timeout for one hour. No request waits for it. */
const FOLD_TIMEOUT_MS = 300_000;
/** Hours that one run folds at most. If more are due, the next run follows at once. */
const MAX_HOURS = 48;

/**
 * Folds every hour into `usage_hours` once its sessions can no longer change, oldest first and without a gap, so that one
 * time separates folded hours from open ones. Any number of processes may run it; each hour is folded once.
 */
@Injectable()
export class UsageAggregator {
  private readonly pollLoop: PollLoop;

  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'maintenance'>,
    private readonly store: UsageStore,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.pollLoop = new PollLoop({
      everyMs: FOLD_INTERVAL_MS,
      work: () => this.foldDueHours(),
      onError: failures.about('folding hours of usage'),
    });
  }

  /** Folds the due hours, at most two days of them. Returns whether more are due. */
  async foldDueHours(): Promise<boolean> {
    const { database, store } = this;
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

  @OnStop('maintenance')
  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
