import type { SealLabel } from '@countersign/keys';

/** A column whose values are sealed with the master key, as the module that owns its table declares it. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly label: SealLabel;
  /** SQL text of the context that a row's value is sealed with. The table's key is `id`, a uuid. */
  readonly context: string;
  /** The column is an array of sealed values. */
  readonly isList: boolean;
  /** A table of few rows, which a boot may look into. */
  readonly isSmall: boolean;
}

/** Rows that depend on a version of the master key and that only their use, or time, takes off it. */
export interface VersionedRows {
  readonly name: string;
  /**
   * SQL text. $1 a version; $2 the lowest id of the last 25 hours, for tables that are partitioned by id. One row: `rows`
   * is the number of rows that depend on the version, `newestAt` the time of the newest or null.
   */
  readonly count: string;
  /** Whether these rows are lost with the version, so that no process may start without it. */
  readonly isNeeded: boolean;
  /** Seconds after which a row depends on no key any more; null for rows that stay until they are used. */
  readonly livesSeconds: number | null;
  /** How the rows are taken off a version, as a phrase for the operator. */
  readonly renewal: string;
}

/** A sealed value in its row. */
export interface SealedRow {
  readonly id: string;
  readonly context: string;
  readonly sealed: Buffer;
}

/** All that depends on the master key, of the tables that a process knows. */
export interface KeyDependants {
  readonly columns: readonly SealedColumn[];
  readonly rows: readonly VersionedRows[];
}

/** Those of several modules as one. */
export const joinDependants = (...parts: readonly KeyDependants[]): KeyDependants => ({
  columns: parts.flatMap(({ columns }) => columns),
  rows: parts.flatMap(({ rows }) => rows),
});

export const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`;
