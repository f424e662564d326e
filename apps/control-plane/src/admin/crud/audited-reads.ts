import { AuditStore, type NewAuditEntry } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { hasRight } from '../../http/admin-policy.js';
import type { Outcome } from '../../http/errors.js';
import { AdminService } from './admin.service.js';
import type { AdminResource, Engineer, FoundById } from './admin-resource.js';
import type { AccountPageQuery, PageAnswer } from './paging.js';
import type { Plain } from './plain.js';

/** The resource id in the audit entry of a list. */
const LIST_ID = 'list';

/** A page, and the filter for its audit entry, with the phone masked. */
interface AuditedPage<View> {
  readonly query: Plain<AccountPageQuery>;
  readonly filter: object;
  /** Whether the view has people's data. Default: every view, and an empty page, has an entry. */
  readonly holdsPeople?: ((view: View) => boolean) | undefined;
}

interface AuditedFind<View> extends Pick<AuditedPage<View>, 'holdsPeople'> {
  /** In the audit log. Default `read`. */
  readonly action?: string;
}

/** An entry, but for what is the same in all entries of reads. */
type ReadEntry = Pick<NewAuditEntry, 'resourceId' | 'after'> & Partial<Pick<NewAuditEntry, 'action'>>;

export interface Identified {
  readonly id: string;
}

/**
 * Reads of people's data. For a role with full access each read writes one audit entry in the same transaction, so that
 * no data is returned without an entry. A masked read writes none.
 */
@Injectable()
export class AuditedReads {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
    private readonly admin: AdminService,
  ) {}

  /** The entry contains the filter, the count, and the first and last id, which identify the rows. */
  list<Row extends { readonly id: Uuid }, View extends Identified>(
    resource: Pick<AdminResource<Row, View>, 'name' | 'idPrefix' | 'view'> & {
      readonly table: Pick<AdminResource<Row, View>['table'], 'list'>;
    },
    by: Engineer,
    { query, filter, holdsPeople }: AuditedPage<View>,
  ): Promise<Outcome<PageAnswer<View>>> {
    return this.read(
      resource,
      by,
      (db) => this.admin.list(resource, query, db),
      ({ data }) => {
        if (holdsPeople !== undefined && !data.some(holdsPeople)) return null;
        const [newest, oldest] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
        return { resourceId: LIST_ID, after: { filter, count: data.length, newest, oldest } };
      },
    );
  }

  find<Row extends { readonly id: Uuid }, View extends Identified>(
    resource: FoundById<Row, View>,
    by: Engineer,
    id: string,
    { action = 'read', holdsPeople = () => true }: AuditedFind<View> = {},
  ): Promise<Outcome<View>> {
    return this.read(
      resource,
      by,
      (db) => this.admin.find(resource, id, db),
      (view) => (holdsPeople(view) ? { action, resourceId: view.id, after: null } : null),
    );
  }

  private async read<Value>(
    { name }: { readonly name: string },
    { actor, requestId, role }: Engineer,
    query: (db?: Executor) => Promise<Outcome<Value>>,
    entryOf: (value: Value) => ReadEntry | null,
  ): Promise<Outcome<Value>> {
    if (!hasRight(role, 'readPersonalData')) return query();
    return this.database.reports.transaction(async (tx) => {
      const outcome = await query(tx);
      if (!outcome.ok) return outcome;
      const read = entryOf(outcome.value);
      if (read === null) return outcome;
      await this.audit.append(tx, { actor, requestId, action: 'read', resource: name, before: null, ...read });
      return outcome;
    });
  }
}
