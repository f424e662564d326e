import type { Uuid } from '@countersign/ids';
import type { EntityTarget, ObjectLiteral, QueryDeepPartialEntity, Repository, SelectQueryBuilder } from 'typeorm';
import type { Executor } from './executor.js';
import type { Page, PageRequest, Records } from './record-table.js';
import { entityManager } from './entity-source.js';

/** The database's clock now, truncated because a rounded reading could be in the future. */
export const CLOCK_MS = `date_trunc('milliseconds', clock_timestamp())`;

/**
 * The id of the current transaction. Of two transactions the later may commit first; all ids below
 * `pg_snapshot_xmin(pg_current_snapshot())` have ended. Ids of a restored database have no relation to those of its server.
 */
export const CURRENT_XID = `pg_current_xact_id()::text::bigint`;

interface EntityRow extends ObjectLiteral {
  readonly id: Uuid;
}

/**
 * Rows of a configuration table, through TypeORM's repository of its entity on the caller's executor. Every such table
 * has a uuid `id` that sorts by time. A row has the columns of the entity except those with `select: false`. Rejects as
 * the executor does: DataError 23505 for a violated unique constraint.
 */
export class EntityTable<Entity extends Row, Row extends EntityRow> implements Records<Row> {
  /** @param owner the property by which a list can be restricted to one owner; without it no list can be */
  constructor(
    private readonly entity: EntityTarget<Entity>,
    private readonly owner?: keyof Row & string,
    private readonly fixed: Readonly<Record<string, unknown>> = {},
    private readonly hiddenId: Uuid | null = null,
  ) {}

  /** The same table without one row, in reads and locks alike. */
  without(id: Uuid): EntityTable<Entity, Row> {
    return new EntityTable<Entity, Row>(this.entity, this.owner, this.fixed, id);
  }

  /** The same table, restricted to rows with these values, in reads and locks alike. */
  where(values: Partial<Row>): Pick<EntityTable<Entity, Row>, keyof Records<Row>> {
    return new EntityTable<Entity, Row>(this.entity, this.owner, { ...this.fixed, ...values }, this.hiddenId);
  }

  async list(db: Executor, { limit, startingAfter, ownerId }: PageRequest): Promise<Page<Row>> {
    const query = await this.select(db);
    if (startingAfter !== null) query.andWhere('record.id < :startingAfter', { startingAfter });
    if (ownerId !== null)
      query.andWhere(this.owner === undefined ? 'false' : `record.${this.owner} = :ownerId`, { ownerId });
    const rows = await query
      .orderBy('record.id', 'DESC')
      .limit(limit + 1)
      .getMany();
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  async find(db: Executor, id: Uuid): Promise<Row | null> {
    return (await this.select(db)).andWhere('record.id = :id', { id }).getOne();
  }

  /** Rows that reference this one may still be inserted. */
  async lock(tx: Executor, id: Uuid): Promise<Row | null> {
    return (await this.select(tx)).andWhere('record.id = :id', { id }).setLock('for_no_key_update').getOne();
  }

  /** Inserts a row and returns it as stored: omitted columns get their defaults. */
  async insert(tx: Executor, values: QueryDeepPartialEntity<Entity> & { readonly id: Uuid }): Promise<Row> {
    await (await this.repository(tx)).insert(values);
    return this.get(tx, values.id);
  }

  /** Inserts a row unless a unique constraint is in its way. Waits for a concurrent insert of the same values. */
  async insertIfNew(tx: Executor, values: QueryDeepPartialEntity<Entity> & { readonly id: Uuid }): Promise<void> {
    await (await this.repository(tx)).createQueryBuilder().insert().values(values).orIgnore().execute();
  }

  /**
   * Writes the given columns of a locked row and returns it as stored. Columns with `update: false` are not written, nor
   * are fields that a joined view adds to the row.
   */
  async update(tx: Executor, id: Uuid, changes: QueryDeepPartialEntity<Entity>): Promise<Row> {
    const repository = await this.repository(tx);
    const isWritten = (name: string): boolean =>
      repository.metadata.findColumnWithPropertyName(name)?.isUpdate === true;
    const written: typeof changes = { ...changes };
    for (const name in written) if (!isWritten(name)) Reflect.deleteProperty(written, name);
    await repository.update(id, written);
    return this.get(tx, id);
  }

  async delete(tx: Executor, id: Uuid): Promise<void> {
    await (await this.repository(tx)).delete(id);
  }

  private async get(tx: Executor, id: Uuid): Promise<Row> {
    const row = await this.find(tx, id);
    if (row === null) throw new Error('the row of a write does not exist');
    return row;
  }

  private async select(db: Executor): Promise<SelectQueryBuilder<Entity>> {
    const query = (await this.repository(db)).createQueryBuilder('record');
    for (const [name, value] of Object.entries(this.fixed))
      query.andWhere(`record.${name} = :fixed_${name}`, { [`fixed_${name}`]: value });
    if (this.hiddenId !== null) query.andWhere('record.id <> :hidden', { hidden: this.hiddenId });
    return query;
  }

  private async repository(db: Executor): Promise<Repository<Entity>> {
    return (await entityManager(db)).getRepository(this.entity);
  }
}
