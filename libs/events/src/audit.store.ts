import type { IdSource, Uuid } from '@countersign/ids';
import type { Executor, Page, PageRequest } from '@countersign/postgres';
import { APPEND_AUDIT, listAudit } from './audit.sql.js';
import { auditedJson } from './audit-state.js';

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
  /**
   * The resource as shown by the API, so without secrets; null before its creation and after its deletion. Long texts
   * are stored in part (`auditedJson`).
   */
  readonly before: object | null;
  readonly after: object | null;
  /** Id of the request, `req_…`; null for automatic changes. */
  readonly requestId: string | null;
}

/** A stored entry. */
export interface AuditEntry extends Omit<NewAuditEntry, 'before' | 'after'> {
  readonly id: Uuid;
  readonly at: Date;
  /** JSON text of at most 128 KiB, or null. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Values of columns; undefined matches any. Column names are constants, never input. */
type AuditFilter = Readonly<Partial<Record<'resource' | 'resource_id', string | undefined>>>;

/** Reads the audit log. Entries are never changed. */
export const AUDIT_ENTRIES = {
  /** A page, newest first. It ends early where its states are large (PAGE_STATE_OCTETS). */
  async list(
    db: Executor,
    { limit, startingAfter }: Pick<PageRequest, 'limit' | 'startingAfter'>,
    filter: AuditFilter = {},
  ): Promise<Page<AuditEntry>> {
    const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
    const values = [startingAfter, limit + 1, ...wanted.map(([, value]) => value)];
    const read = await db.query<AuditEntry & { readonly found: number }>(
      listAudit(wanted.map(([column]) => column)),
      values,
    );
    const rows = read.slice(0, limit);
    return { rows, hasMore: (read[0]?.found ?? 0) > rows.length };
  },

  where: (filter: AuditFilter) => ({
    list: (db: Executor, page: PageRequest): Promise<Page<AuditEntry>> => AUDIT_ENTRIES.list(db, page, filter),
  }),
};

/** Writes the audit log. */
export class AuditStore {
  constructor(private readonly ids: IdSource) {}

  /** In the transaction of the change, so that neither exists without the other. */
  async append(tx: Executor, entry: NewAuditEntry): Promise<void> {
    const { actor, action, resource, resourceId, before, after, requestId } = entry;
    const states = [before, after].map((state) => (state === null ? null : auditedJson(state)));
    await tx.query(APPEND_AUDIT, [this.ids.newId(), actor, action, resource, resourceId, ...states, requestId]);
  }
}
