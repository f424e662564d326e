import type { QueueDepth } from '@countersign/events';
import { idBounds, type Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { LOCK_TRIED, OUTBOUND_DEPTH, RETRY_NOW } from './outbound-queue.sql.js';

/** Operator view and operations of the outbound queue. */
export class OutboundQueue {
  async depth(db: Executor): Promise<QueueDepth> {
    return requireRow(await db.query<QueueDepth>(OUTBOUND_DEPTH));
  }

  /**
   * Makes codes whose attempts failed so far due at once, on routes that refused them too; returns their number. A
   * failed code stays failed: its text is erased and its failure was reported.
   */
  async retryFailed(tx: Executor, limit: number): Promise<number> {
    const ids = (await tx.query<{ id: Uuid }>(LOCK_TRIED, [limit])).map(({ id }) => id);
    if (ids.length === 0) return 0;
    const { low, high } = idBounds(ids);
    await tx.query(RETRY_NOW, [ids, low, high]);
    return ids.length;
  }
}
