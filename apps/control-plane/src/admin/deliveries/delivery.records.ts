import type { Uuid } from '@countersign/ids';
import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import { type Executor, type Page, type PageRequest, RecordTable, type Records } from '@countersign/postgres';
import type { DeliveryRow } from '../../webhooks/delivery.view.js';

export type DeliveryRecord = DeliveryRow & { readonly test: boolean };

const COLUMNS = `id, account_id AS "accountId", test, session_id AS "sessionId", type, url, status, attempts,
  next_attempt_at AS "nextAttemptAt"`;
const TABLE = { table: 'deliveries', owner: 'account_id', only: `account_id <> '${SIGN_IN_ACCOUNT_ID}'` };
const WITH_BODY = new RecordTable<DeliveryRecord>({ ...TABLE, columns: `${COLUMNS}, body_sealed AS "bodySealed"` });
const WITHOUT_BODY = new RecordTable<DeliveryRecord>({ ...TABLE, columns: `${COLUMNS}, NULL AS "bodySealed"` });

/** The deliveries of all accounts. A page is read without their bodies, which may be large. */
export class DeliveryRecords implements Records<DeliveryRecord> {
  constructor(private readonly listed: Pick<Records<DeliveryRecord>, 'list'> = WITHOUT_BODY) {}

  /** Filters by column values; undefined matches any. */
  where(values: Readonly<Record<string, string | undefined>>): Pick<Records<DeliveryRecord>, 'list'> {
    return new DeliveryRecords(WITHOUT_BODY.where(values));
  }

  list(db: Executor, request: PageRequest): Promise<Page<DeliveryRecord>> {
    return this.listed.list(db, request);
  }

  find(db: Executor, id: Uuid): Promise<DeliveryRecord | null> {
    return WITH_BODY.find(db, id);
  }

  lock(tx: Executor, id: Uuid): Promise<DeliveryRecord | null> {
    return WITH_BODY.lock(tx, id);
  }
}
