import { isTestMode, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { FIND_QUEUED, HAS_OPEN_ROUTE } from './outbound.lookup.sql.js';

/** Queries before a code is queued, in the same transaction; not cached. */
export class OutboundLookup {
  /** The destination of a message that an earlier run of the same request queued for this session; null for none. */
  async queuedTo(db: Executor, id: Uuid, sessionId: Uuid, tenant: Tenant): Promise<string | null> {
    const [message] = await db.query<{ destination: string }>(FIND_QUEUED, [
      id,
      sessionId,
      tenant.accountId,
      isTestMode(tenant),
    ]);
    return message?.destination ?? null;
  }

  /** Whether an enabled route to an enabled bind or system that may carry codes exists for the number. */
  async hasRoute(db: Executor, e164: string): Promise<boolean> {
    return (await db.query(HAS_OPEN_ROUTE, [e164])).length > 0;
  }
}
