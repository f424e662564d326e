import { isTestMode, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { FIND_QUEUED, HAS_OPEN_ROUTE } from './outbound.lookup.sql.js';

/** What is asked before a code is queued, in the transaction that queues it: not through a copy. */
export class OutboundLookup {
  /** To which number a message of this session was queued by an earlier run of the same request; null when it was not. */
  async queuedTo(db: Executor, id: Uuid, sessionId: Uuid, tenant: Tenant): Promise<string | null> {
    const [message] = await db.query<{ destination: string }>(FIND_QUEUED, [
      id,
      sessionId,
      tenant.accountId,
      isTestMode(tenant),
    ]);
    return message?.destination ?? null;
  }

  /** Whether any route leads to a number: enabled, by an enabled bind that may send. */
  async hasRoute(db: Executor, e164: string): Promise<boolean> {
    return (await db.query(HAS_OPEN_ROUTE, [e164])).length > 0;
  }
}
