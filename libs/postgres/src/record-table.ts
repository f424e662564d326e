import type { Executor } from './executor.js';
import type { Uuid } from '@countersign/ids';

export interface RecordTableOptions {
  readonly table: string;
  /** The select list: exactly the fields of a row. */
  readonly columns: string;
  /** The column by which a list can be restricted to one owner; without it no list can be. */
  readonly owner?: string;
  /** A condition that every row fulfils; the others do not exist here. A constant, never input. */
  readonly only?: string;
}

/** A page of a list: newest first, after `startingAfter`. */
export interface PageRequest {
  readonly limit: number;
  readonly startingAfter: Uuid | null;
  readonly ownerId: Uuid | null;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Operator access to the rows of one kind. */
export interface Records<Row> {
  list(db: Executor, request: PageRequest): Promise<Page<Row>>;
  find(db: Executor, id: Uuid): Promise<Row | null>;
  /** The current row, locked until the transaction ends. */
  lock(tx: Executor, id: Uuid): Promise<Row | null>;
}

/**
 * Operator access to configuration rows: list a page, find one, lock one for a change. Every such table has a uuid
 * `id` that sorts by time. The table's store writes the rows.
 */
export class RecordTable<Row extends { readonly id: Uuid }> implements Records<Row> {
  readonly #columns: string;
  readonly #table: string;
  readonly #owner: string | undefined;
  readonly #only: string;
  /** $1 id. */
  readonly #find: string;

  constructor({ table, columns, owner, only = 'true' }: RecordTableOptions) {
    this.#columns = columns;
    this.#table = table;
    this.#owner = owner;
    this.#only = only;
    this.#find = `SELECT ${columns} FROM ${table} WHERE id = $1 AND ${only}`;
  }

  list(db: Executor, request: PageRequest): Promise<Page<Row>> {
    return this.#listOf(db, request, {});
  }

  /** Only rows whose columns have these values; undefined matches any. Column names are constants, never input. */
  where(values: Readonly<Record<string, string | undefined>>): Pick<Records<Row>, 'list'> {
    return { list: (db, request) => this.#listOf(db, request, values) };
  }

  async find(db: Executor, id: Uuid): Promise<Row | null> {
    const [row] = await db.query<Row>(this.#find, [id]);
    return row ?? null;
  }

  async #listOf(
    db: Executor,
    { limit, startingAfter, ownerId }: PageRequest,
    values: Readonly<Record<string, string | undefined>>,
  ): Promise<Page<Row>> {
    const wanted = Object.entries(values).filter(([, value]) => value !== undefined);
    const rows = await db.query<Row>(this.#listStatement(wanted.map(([column]) => column)), [
      startingAfter,
      limit + 1,
      ownerId,
      ...wanted.map(([, value]) => value),
    ]);
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  /** $1 cursor id or null, $2 maximum rows, $3 owner or null, $4 and following: the values of the columns. */
  #listStatement(columns: readonly string[]): string {
    const owned = this.#owner === undefined ? '$3::uuid IS NULL' : `($3::uuid IS NULL OR ${this.#owner} = $3)`;
    const matched = columns.map((column, at) => ` AND ${column} = $${at + 4}`).join('');
    return `SELECT ${this.#columns} FROM ${this.#table} WHERE ($1::uuid IS NULL OR id < $1) AND ${this.#only} AND ${owned}${matched}
      ORDER BY id DESC LIMIT $2`;
  }

  /** Rows that reference this one may still be inserted. */
  async lock(tx: Executor, id: Uuid): Promise<Row | null> {
    const [row] = await tx.query<Row>(`${this.#find} FOR NO KEY UPDATE`, [id]);
    return row ?? null;
  }
}
