import type { QueueDepth } from '@countersign/events';
import { idBounds, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { LOCK_TRIED, OUTBOUND_DEPTH, TRY_AFRESH } from './outbound-queue.sql.js';

/** What engineers see of the codes on their way out, and what they can do for them. */
export class OutboundQueue {
  async depth(db: Executor): Promise<QueueDepth> {
    const [depth] = await db.query<QueueDepth>(OUTBOUND_DEPTH);
    if (depth === undefined) throw new Error('a statement of one row answered none');
    return depth;
  }

  /**
   * Codes whose attempts came to nothing so far are due at once, by routes that refused them too; answers how many. One
   * that was given up stays so: its text went with it, and its failure has been told.
   */
  async retryFailed(tx: Executor, limit: number): Promise<number> {
    const ids = (await tx.query<{ id: Uuid }>(LOCK_TRIED, [limit])).map(({ id }) => id);
    if (ids.length === 0) return 0;
    const { low, high } = idBounds(ids);
    await tx.query(TRY_AFRESH, [ids, low, high]);
    return ids.length;
  }
}
