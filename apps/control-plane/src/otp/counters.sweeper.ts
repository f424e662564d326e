import { Database, DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { ExpiredCounters } from './expired-counters.js';

/** If more rows are left after a run, the next run follows at once. */
const SWEEP_INTERVAL_MS = 10 * 60_000;

/** Deletes counters that the guard no longer needs. No request depends on it: the next send restarts an expired window. */
@Injectable()
export class CountersSweeper {
  private readonly pollLoop: PollLoop;

  constructor(expired: ExpiredCounters, database: Database, clock: DatabaseClock, failures: FailureLog) {
    this.pollLoop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: () => expired.purge(database, clock.nowMs()),
      onError: failures.about('deleting expired counters of codes'),
    });
  }

  @OnStop('maintenance')
  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
