import type { QueueDepth } from '@countersign/events';
import { idBounds, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { BEGIN_ANEW, LOCK_FAILED, WEBHOOKS_DEPTH } from './delivery-queue.sql.js';

/** What engineers see of the webhooks on their way out, and what they can do for them. */
export class DeliveryQueue {
  async depth(db: Executor): Promise<QueueDepth> {
    const [depth] = await db.query<QueueDepth>(WEBHOOKS_DEPTH);
    if (depth === undefined) throw new Error('a statement of one row answered none');
    return depth;
  }

  /** Deliveries that were given up are due at once, with a whole schedule before them; answers how many. Blocked ones stay so. */
  async retryFailed(tx: Executor, limit: number): Promise<number> {
    const ids = (await tx.query<{ id: Uuid }>(LOCK_FAILED, [limit])).map(({ id }) => id);
    if (ids.length === 0) return 0;
    const { low, high } = idBounds(ids);
    await tx.query(BEGIN_ANEW, [ids, low, high]);
    return ids.length;
  }
}
