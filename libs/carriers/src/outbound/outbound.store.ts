import type { Executor } from '@countersign/postgres';
import { INSERT_OUTBOUND } from './outbound.sql.js';
import { destinationPrefix, type NewOutboundMessage } from './outbound.js';

/** Queues codes, in the caller's transaction; MtMessageStore makes their later state changes. */
export class OutboundStore {
  /**
   * Queues a message, due at once: notify its queue with the id after the commit. Throws DataError 23505 for an
   * existing id.
   */
  async insert(tx: Executor, message: NewOutboundMessage): Promise<void> {
    await tx.query(INSERT_OUTBOUND, [
      message.id,
      message.sessionId,
      message.accountId,
      message.test,
      message.destination,
      destinationPrefix(message.destination),
      message.country,
      message.sender,
      message.textSealed,
      message.createdAt,
      message.expiresAt,
    ]);
  }
}
