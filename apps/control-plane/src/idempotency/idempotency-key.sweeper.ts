import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { IdempotencyStore } from './idempotency.store.js';

const PURGE_INTERVAL_MS = 60_000;
/** Keys that one statement deletes at most. If more are left, the next run follows at once. */
const MAX_PURGED = 1_000;

/** Deletes keys that are too old to be repeated. Any number of processes may run it. */
@Injectable()
export class IdempotencyKeySweeper {
  private readonly pollLoop: PollLoop;

  constructor(store: IdempotencyStore, failures: FailureLog) {
    this.pollLoop = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await store.purge(MAX_PURGED)) >= MAX_PURGED,
      onError: failures.about('deleting old idempotency keys'),
    });
  }

  @OnStop('maintenance')
  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
