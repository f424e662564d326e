import type { Uuid } from '@countersign/ids';
import { type Executor, RecordTable } from '@countersign/postgres';
import { APPEND_AUDIT, AUDIT_ENTRY } from './audit.sql.js';

/** One change made through the admin API (contract, Admin). */
export interface NewAuditEntry {
  /** Name of the admin key, or of this service itself. */
  readonly actor: string;
  /** `create`, `update`, `delete`, or the name of an action such as `revoke`. */
  readonly action: string;
  /** Kind of the resource, as in its path: `brands`. */
  readonly resource: string;
  /** Its rendered id: `brd_…`. */
  readonly resourceId: string;
  /** The resource as shown by the API, so without secrets; null before its creation and after its deletion. */
  readonly before: object | null;
  readonly after: object | null;
  /** Id of the request, `req_…`; null for automatic changes. */
  readonly requestId: string | null;
}

/** A stored entry. */
export interface AuditEntry extends Omit<NewAuditEntry, 'before' | 'after'> {
  readonly id: Uuid;
  readonly at: Date;
  /** JSON text, or null. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The audit log, newest first. Entries are never changed. */
export const AUDIT_ENTRIES = new RecordTable<AuditEntry>({ table: 'audit_entries', columns: AUDIT_ENTRY });

/** Writes the audit log. */
export class AuditStore {
  /** `newId` returns a new id from the database's clock. */
  constructor(private readonly newId: () => Uuid) {}

  /** In the transaction of the change, so that neither exists without the other. */
  async append(tx: Executor, entry: NewAuditEntry): Promise<void> {
    const { actor, action, resource, resourceId, before, after, requestId } = entry;
    const states = [before, after].map((state) => (state === null ? null : JSON.stringify(state)));
    await tx.query(APPEND_AUDIT, [this.newId(), actor, action, resource, resourceId, ...states, requestId]);
  }
}
