import { PollLoop } from '@countersign/schedule';
import type { IdempotencyStore } from './idempotency.store.js';

const PURGE_INTERVAL_MS = 60_000;
/** Keys in one statement at most; while a purge is full the next one follows at once. */
const MAX_PURGED = 1_000;

export interface IdempotencyKeySweeperOptions {
  readonly store: Pick<IdempotencyStore, 'purge'>;
  readonly onError: (error: unknown) => void;
}

/** Forgets answers that nobody may ask for any more. Any number of processes may do it. */
export class IdempotencyKeySweeper {
  private readonly periodic: PollLoop;

  constructor({ store, onError }: IdempotencyKeySweeperOptions) {
    this.periodic = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await store.purge(MAX_PURGED)) >= MAX_PURGED,
      onError,
    });
  }

  async stop(): Promise<void> {
    await this.periodic.stop();
  }
}
