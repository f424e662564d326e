import { idBounds, type Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { FORGET_BODIES, LOCK_OLD_BODIES } from './account-deliveries.sql.js';

/** How long the body of an ended delivery is kept, to be shown and sent again (contract, Webhooks). */
export const KEPT_HOURS = 72;
const SWEEP_INTERVAL_MS = 5 * 60_000;
/** Bodies deleted in one transaction at most; a full sweep is followed by the next at once. */
const MAX_SWEPT = 500;

export interface BodySweeperOptions {
  readonly database: Database;
  readonly onError: (error: unknown) => void;
}

/** Deletes bodies three days after their delivery has ended. Any number of processes may sweep. */
export class BodySweeper {
  private readonly loop: PollLoop;

  constructor(private readonly options: BodySweeperOptions) {
    this.loop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await this.sweep()) >= MAX_SWEPT,
      onError: options.onError,
    });
    this.loop.trigger();
  }

  /** Resolves with the number of deleted bodies. */
  sweep(): Promise<number> {
    return this.options.database.transaction(async (tx) => {
      const ids = (await tx.query<{ id: Uuid }>(LOCK_OLD_BODIES, [KEPT_HOURS, MAX_SWEPT])).map(({ id }) => id);
      if (ids.length === 0) return 0;
      const { low, high } = idBounds(ids);
      await tx.query(FORGET_BODIES, [ids, low, high]);
      return ids.length;
    });
  }

  async stop(): Promise<void> {
    await this.loop.stop();
  }
}
