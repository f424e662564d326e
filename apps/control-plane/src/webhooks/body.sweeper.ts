import { idBounds, type Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { FORGET_BODIES, LOCK_OLD_BODIES } from './account-deliveries.sql.js';

/** How long a body is kept after its delivery has ended, to be looked at and sent again (contract, Webhooks). */
export const KEPT_HOURS = 72;
const SWEEP_INTERVAL_MS = 5 * 60_000;
/** Bodies in one transaction at most; while a sweep is full the next one follows at once. */
const MAX_SWEPT = 500;

export interface BodySweeperOptions {
  readonly database: Database;
  readonly onError: (error: unknown) => void;
}

/** Forgets what was posted, three days after it has ended. Any number of processes may sweep. */
export class BodySweeper {
  private readonly periodic: PollLoop;

  constructor(private readonly options: BodySweeperOptions) {
    this.periodic = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await this.sweep()) >= MAX_SWEPT,
      onError: options.onError,
    });
    this.periodic.trigger();
  }

  /** How many bodies were forgotten. */
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
    await this.periodic.stop();
  }
}
