import type { Executor } from '@countersign/postgres';
import { INSERT_OUTBOUND } from './outbound.sql.js';
import { destinationPrefix, type NewOutboundMessage } from './outbound.js';

/** The one door to codes on their way out, and to what carriers say of them. Writes in the caller's transaction. */
export class OutboundStore {
  /** Queues a message. Ring the bell of its queue with the id once it is committed. Throws DataError 23505 for an id that is there. */
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
