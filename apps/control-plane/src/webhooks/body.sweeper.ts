import { idBounds, type Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { FORGET_BODIES, LOCK_OLD_BODIES } from './account-deliveries.sql.js';

/** How long the body of an ended delivery is kept, to be shown and sent again (contract, Webhooks). */
export const KEPT_HOURS = 72;
const SWEEP_INTERVAL_MS = 5 * 60_000;
/** Bodies deleted in one transaction at most; a full sweep is followed by the next at once. */
const MAX_SWEPT = 500;

/** Deletes bodies three days after their delivery has ended. Any number of processes may sweep. */
@Injectable()
export class BodySweeper {
  private readonly loop: PollLoop;

  constructor(
    private readonly database: Database,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.loop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await this.sweep()) >= MAX_SWEPT,
      onError: failures.about('webhook body sweeper: deleting bodies'),
    });
    this.loop.trigger();
  }

  /** Resolves with the number of deleted bodies. */
  sweep(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const ids = (await tx.query<{ id: Uuid }>(LOCK_OLD_BODIES, [KEPT_HOURS, MAX_SWEPT])).map(({ id }) => id);
      if (ids.length === 0) return 0;
      const { low, high } = idBounds(ids);
      await tx.query(FORGET_BODIES, [ids, low, high]);
      return ids.length;
    });
  }

  @OnStop('delivery maintenance')
  async stop(): Promise<void> {
    await this.loop.stop();
  }
}
