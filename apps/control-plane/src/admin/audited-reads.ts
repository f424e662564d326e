import { AuditStore } from '@countersign/events';
import { Database, type Uuid } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { hasRight } from '../http/admin-policy.js';
import type { Outcome } from '../http/errors.js';
import { AdminDesk } from './admin-desk.js';
import type { AdminResource, Engineer } from './admin-resource.js';
import type { AccountPageQuery, PageAnswer } from './paging.js';
import type { Plain } from './plain.js';

/** In place of an id in the audit entry of a list. */
export const LIST_ID = 'list';

/** A page, and the filter for its audit entry: without a phone in clear. */
export interface AuditedPage {
  readonly query: Plain<AccountPageQuery>;
  readonly filter: object;
}

interface Identified {
  readonly id: string;
}

/**
 * Reads of people's data. For a role that sees it in full each read is one audit entry, written in the transaction of the
 * read, so that no answer leaves without its entry. A masked read has no entry.
 */
@Injectable()
export class AuditedReads {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
    private readonly desk: AdminDesk,
  ) {}

  /** The entry holds the filter, the count, and the first and last id: with them the same rows can be found again. */
  async list<Row extends { readonly id: Uuid }, View extends Identified>(
    resource: Pick<AdminResource<Row, View>, 'name' | 'idPrefix' | 'view'> & {
      readonly table: Pick<AdminResource<Row, View>['table'], 'list'>;
    },
    by: Engineer,
    { query, filter }: AuditedPage,
  ): Promise<Outcome<PageAnswer<View>>> {
    if (!hasRight(by.role, 'seePeople')) return this.desk.list(resource, query);
    return this.database.transaction(async (tx) => {
      const outcome = await this.desk.list(resource, query, tx);
      if (!outcome.ok) return outcome;
      const { data } = outcome.value;
      const after = { filter, count: data.length, newest: data[0]?.id ?? null, oldest: data.at(-1)?.id ?? null };
      const { actor, requestId } = by;
      const entry = { actor, requestId, action: 'read', resource: resource.name, resourceId: LIST_ID };
      await this.audit.append(tx, { ...entry, before: null, after });
      return outcome;
    });
  }

  async find<Row extends { readonly id: Uuid }, View extends Identified>(
    resource: AdminResource<Row, View>,
    by: Engineer,
    id: string,
  ): Promise<Outcome<View>> {
    if (!hasRight(by.role, 'seePeople')) return this.desk.find(resource, id);
    return this.database.transaction(async (tx) => {
      const outcome = await this.desk.find(resource, id, tx);
      if (!outcome.ok) return outcome;
      const { actor, requestId } = by;
      const entry = { actor, requestId, action: 'read', resource: resource.name, resourceId: outcome.value.id };
      await this.audit.append(tx, { ...entry, before: null, after: null });
      return outcome;
    });
  }
}
