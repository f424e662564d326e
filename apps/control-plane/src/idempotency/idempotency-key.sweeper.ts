import { PollLoop } from '@countersign/schedule';
import type { IdempotencyStore } from './idempotency.store.js';

const PURGE_INTERVAL_MS = 60_000;
/** Keys that one statement deletes at most. If more are left, the next run follows at once. */
const MAX_PURGED = 1_000;

export interface IdempotencyKeySweeperOptions {
  readonly store: Pick<IdempotencyStore, 'purge'>;
  readonly onError: (error: unknown) => void;
}

/** Deletes keys that are too old to be repeated. Any number of processes may run it. */
export class IdempotencyKeySweeper {
  private readonly pollLoop: PollLoop;

  constructor({ store, onError }: IdempotencyKeySweeperOptions) {
    this.pollLoop = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await store.purge(MAX_PURGED)) >= MAX_PURGED,
      onError,
    });
  }

  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
