import type { Uuid } from '@countersign/ids';
import { type Executor, RecordTable } from '@countersign/postgres';
import { APPEND_AUDIT, AUDIT_ENTRY } from './audit.sql.js';

/** One change of what engineers look after (contract, Admin). */
export interface NewAuditEntry {
  /** Who: the holder of the admin key, or this service itself. */
  readonly actor: string;
  /** What was done: `create`, `update`, `delete`, or the name of an action such as `revoke`. */
  readonly action: string;
  /** The kind of thing, as its path spells it: `brands`. */
  readonly resource: string;
  /** Its id as callers see it: `brd_…`. */
  readonly resourceId: string;
  /** The thing as the API shows it, so without secrets; null before it was made and after it was deleted. */
  readonly before: object | null;
  readonly after: object | null;
  /** The request it was done in, `req_…`; null for what nobody did by hand. */
  readonly requestId: string | null;
}

/** An entry as it is read again. */
export interface AuditEntry extends Omit<NewAuditEntry, 'before' | 'after'> {
  readonly id: Uuid;
  readonly at: Date;
  /** JSON text, or null. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The audit log, newest first. Entries are never changed. */
export const AUDIT_ENTRIES = new RecordTable<AuditEntry>({ table: 'audit_entries', columns: AUDIT_ENTRY });

/** The one door to the audit log. */
export class AuditStore {
  /** `newId` makes an id by the database's clock. */
  constructor(private readonly newId: () => Uuid) {}

  /** In the transaction of the change itself: neither is there without the other. */
  async append(tx: Executor, entry: NewAuditEntry): Promise<void> {
    const { actor, action, resource, resourceId, before, after, requestId } = entry;
    const states = [before, after].map((state) => (state === null ? null : JSON.stringify(state)));
    await tx.query(APPEND_AUDIT, [this.newId(), actor, action, resource, resourceId, ...states, requestId]);
  }
}
