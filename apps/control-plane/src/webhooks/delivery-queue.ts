import type { QueueDepth } from '@countersign/events';
import { idBounds, type Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { RESTART_SCHEDULES, LOCK_FAILED, WEBHOOKS_DEPTH } from './delivery-queue.sql.js';

/** The webhook queue of the admin API. */
export class DeliveryQueue {
  async depth(db: Executor): Promise<QueueDepth> {
    return requireRow(await db.query<QueueDepth>(WEBHOOKS_DEPTH));
  }

  /** Restarts the schedule of failed deliveries, due at once; blocked ones stay blocked. Resolves with their number. */
  async retryFailed(tx: Executor, limit: number): Promise<number> {
    const ids = (await tx.query<{ id: Uuid }>(LOCK_FAILED, [limit])).map(({ id }) => id);
    if (ids.length === 0) return 0;
    const { low, high } = idBounds(ids);
    await tx.query(RESTART_SCHEDULES, [ids, low, high]);
    return ids.length;
  }
}
