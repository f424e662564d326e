import { AuditStore } from '@countersign/events';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { Database, DataError, type Executor, type Page } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import type { Actor, AdminResource, Engineer, FoundById, Listed, Reply, Written } from './admin-resource.js';
import type { AccountPageQuery, PageAnswer } from './paging.js';
import type { Plain } from './plain.js';
import { EngineerRights } from './engineer-rights.js';

/**
 * Reads and changes for all resources of the admin API: pages, 404, one transaction per change with the locked row and
 * the audit entry in it, refusals for violated constraints. A resource adds its table, its view and its writes. A write
 * must decide before it changes anything: a refused write leaves no change.
 */
@Injectable()
export class AdminService {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditStore,
    @Inject(EngineerRights) private readonly rights: Pick<EngineerRights, 'hold'>,
  ) {}

  /** A page, newest first. `startingAfter` may name a row that was deleted meanwhile. */
  async list<Row, View extends object>(
    resource: Listed<Row, View>,
    { limit, startingAfter, accountId }: Plain<AccountPageQuery>,
    db: Executor = this.database.reports,
  ): Promise<Outcome<PageAnswer<View>>> {
    const after = startingAfter === undefined ? null : idOf(resource, startingAfter);
    if (startingAfter !== undefined && after === null) return invalid('startingAfter', resource);
    const ownerId = accountId === undefined ? null : parseId('acct', accountId);
    if (accountId !== undefined && ownerId === null) return invalid('accountId', { idPrefix: 'acct' });
    const request = { limit: Number(limit), startingAfter: after, ownerId };
    const page: Page<Row> = await resource.table.list(db, request);
    return succeed({ data: page.rows.map(resource.view), hasMore: page.hasMore });
  }

  async find<Row extends { readonly id: Uuid }, View extends object>(
    resource: FoundById<Row, View>,
    id: string,
    db: Executor = this.database,
  ): Promise<Outcome<View>> {
    const uuid = idOf(resource, id);
    const row = uuid === null ? null : await resource.table.find(db, uuid);
    return row === null ? unknown(resource) : succeed(resource.view(row));
  }

  create<Row extends { readonly id: Uuid }, View extends object>(
    resource: AdminResource<Row, View>,
    by: Actor,
    write: (tx: Executor) => Reply<Row, View>,
  ): Promise<Outcome<View>> {
    return this.inTransaction(resource, by, async (tx) => {
      const outcome = await write(tx);
      if (!outcome.ok) return outcome;
      const { row, once } = outcome.value;
      const after = auditedState(resource, outcome.value);
      await this.appendAudit(tx, resource, by, { action: 'create', id: row.id, before: null, after });
      return succeed({ ...resource.view(row), ...once });
    });
  }

  /** `action` is the name in the audit log; a call that neither changes nor reveals anything is not logged. */
  act<Row extends { readonly id: Uuid }, View extends object>(
    resource: AdminResource<Row, View>,
    by: Actor,
    { id, action }: { readonly id: string; readonly action: string },
    write: (tx: Executor, row: Row) => Reply<Row, View>,
  ): Promise<Outcome<View>> {
    return this.withLocked(resource, by, id, async (tx, row) => {
      const before = auditedState(resource, { row });
      const outcome = await write(tx, row);
      if (!outcome.ok) return outcome;
      const { once } = outcome.value;
      const after = auditedState(resource, outcome.value);
      const isAudited =
        resource.showsPeople === true || once !== undefined || JSON.stringify(before) !== JSON.stringify(after);
      if (isAudited) await this.appendAudit(tx, resource, by, { action, id: row.id, before, after });
      return succeed({ ...resource.view(outcome.value.row), ...once });
    });
  }

  remove<Row extends { readonly id: Uuid }, View extends object>(
    resource: AdminResource<Row, View>,
    by: Engineer,
    id: string,
    write: (tx: Executor, row: Row) => Promise<unknown>,
  ): Promise<Outcome<null>> {
    return this.withLocked(resource, by, id, async (tx, row) => {
      const refusal = (await resource.mayRemove?.(tx, row, by)) ?? null;
      if (refusal !== null) return { ok: false, refusal };
      await write(tx, row);
      await this.appendAudit(tx, resource, by, {
        action: 'delete',
        id: row.id,
        before: auditedState(resource, { row }),
        after: null,
      });
      return succeed(null);
    });
  }

  private withLocked<Row extends { readonly id: Uuid }, View extends object, T>(
    resource: AdminResource<Row, View>,
    by: Actor,
    id: string,
    work: (tx: Executor, row: Row) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    return this.inTransaction(resource, by, async (tx) => {
      const uuid = idOf(resource, id);
      const row = uuid === null ? null : await resource.table.lock(tx, uuid);
      return row === null ? unknown(resource) : work(tx, row);
    });
  }

  private async inTransaction<T>(
    { refusals, committed }: Pick<AdminResource<never, never>, 'refusals' | 'committed'>,
    by: Actor,
    work: (tx: Executor) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    try {
      const outcome = await this.database.transaction(async (tx) => (await this.rights.hold(tx, by)) ?? work(tx));
      if (outcome.ok) committed?.();
      return outcome;
    } catch (error) {
      const refusal = error instanceof DataError && error.constraint !== null ? refusals[error.constraint] : undefined;
      if (refusal === undefined) throw error;
      return { ok: false, refusal };
    }
  }

  private appendAudit(
    tx: Executor,
    { name, idPrefix, names }: Pick<AdminResource<never, never>, 'name' | 'idPrefix' | 'names'>,
    { actor, requestId }: Actor,
    change: {
      readonly action: string;
      readonly id: Uuid;
      readonly before: object | null;
      readonly after: object | null;
    },
  ): Promise<void> {
    const { action, id, before, after } = change;
    const resourceId = names === undefined ? renderId(idPrefix, id) : id;
    return this.audit.append(tx, { actor, action, resource: name, resourceId, before, after, requestId });
  }
}

/** The id in the text, or the resource name. */
function idOf({ idPrefix, names }: Pick<Listed<never, never>, 'idPrefix' | 'names'>, text: string): Uuid | null {
  if (names === undefined) return parseId(idPrefix, text);
  return names.includes(text) ? text : null;
}

/** The audited state: the settings, and the names of secrets that were just set. */
function auditedState<Row extends { readonly id: Uuid }, View extends object>(
  resource: AdminResource<Row, View>,
  { row, hidden = [] }: Written<Row, View>,
): object {
  const shown = resource.audited?.(row) ?? resource.view(row);
  return { ...shown, ...Object.fromEntries(hidden.map((name) => [name, '[set]'])) };
}

const unknown = ({ noun }: Pick<AdminResource<never, never>, 'noun'>) =>
  refuse('NOT_FOUND', { message: `There is no ${noun} with this id.` });

const invalid = (field: string, { idPrefix, names }: Pick<Listed<never, never>, 'idPrefix' | 'names'>) => {
  const must = names === undefined ? `an id that begins with ${idPrefix}_` : `one of ${names.join(', ')}`;
  return refuse('VALIDATION_ERROR', { message: `${field} must be ${must}.`, field });
};
