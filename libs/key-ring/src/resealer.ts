import { sealedVersion, type ServerKeys } from '@countersign/keys';
import { idBounds, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { nameOf, type SealedColumn, type SealedRow } from './sealed-column.js';
import { pageOfOutdated, replaceValues } from './sealed-column.sql.js';

/** Maximum number of rows that one step reads and reseals. */
const PAGE_ROWS = 500;
/** Octets of sealed values after which a step reads no further row. */
const PAGE_OCTETS = 8 * 1024 * 1024;
const BEFORE_ALL: Uuid = '00000000-0000-0000-0000-000000000000';

export interface ResealerOptions {
  readonly database: Executor;
  readonly keys: ServerKeys;
  readonly columns: readonly SealedColumn[];
  /** Receives values that cannot be opened. They are not changed. */
  readonly onError: (error: unknown, column: string) => void;
}

export interface ResealStep {
  /** Number of resealed values. */
  readonly renewed: number;
  /** Whether the step was the last of a pass over all columns. */
  readonly isPassOver: boolean;
  /** Versions of the values that opened since the pass began. */
  readonly opened: ReadonlySet<number>;
}

/**
 * Reseals values of other versions of the master key with the current one, a page of rows per step. Steps may run
 * beside any writer and the resealer of another process: a value changed meanwhile is not overwritten. A
 * new resealer starts a pass from the beginning.
 */
export class Resealer {
  #column = 0;
  #after = BEFORE_ALL;
  #opened = new Set<number>();

  constructor(private readonly options: ResealerOptions) {}

  async step(): Promise<ResealStep> {
    const column = this.options.columns[this.#column];
    if (column === undefined) return this.#startPass(0);
    const { database, keys } = this.options;
    const rows = await database.query<{ id: Uuid; context: string; sealed: Buffer | null }>(pageOfOutdated(column), [
      this.#after,
      PAGE_ROWS,
      keys.currentVersion,
      PAGE_OCTETS,
    ]);
    const outdated = rows.flatMap(({ sealed, ...row }) => (sealed === null ? [] : [{ ...row, sealed }]));
    const renewed = await this.#renew(column, outdated);
    const last = rows.find(({ sealed }) => sealed === null);
    if (last === undefined) return this.#nextColumn(renewed);
    this.#after = last.id;
    return { renewed, isPassOver: false, opened: this.#opened };
  }

  async #renew(column: SealedColumn, outdated: readonly SealedRow[]): Promise<number> {
    const rows = outdated.flatMap((row) => this.#resealed(column, row));
    if (rows.length === 0) return 0;
    const ids = rows.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const updated = await this.options.database.query(replaceValues(column), [
      ids,
      rows.map(({ stored }) => stored),
      rows.map(({ sealed }) => sealed),
      low,
      high,
    ]);
    return updated.length;
  }

  #resealed(
    column: SealedColumn,
    { id, context, sealed: stored }: SealedRow,
  ): readonly { readonly id: Uuid; readonly stored: Buffer; readonly sealed: Buffer }[] {
    const { keys, onError } = this.options;
    try {
      const plaintext = keys.open(column.label, stored, context);
      this.#opened.add(sealedVersion(stored));
      return [{ id, stored, sealed: keys.seal(column.label, plaintext, context) }];
    } catch (error) {
      onError(error, nameOf(column));
      return [];
    }
  }

  #nextColumn(renewed: number): ResealStep {
    const next = this.#column + 1;
    if (next >= this.options.columns.length) return this.#startPass(renewed);
    [this.#column, this.#after] = [next, BEFORE_ALL];
    return { renewed, isPassOver: false, opened: this.#opened };
  }

  #startPass(renewed: number): ResealStep {
    const opened = this.#opened;
    [this.#column, this.#after, this.#opened] = [0, BEFORE_ALL, new Set<number>()];
    return { renewed, isPassOver: true, opened };
  }
}
