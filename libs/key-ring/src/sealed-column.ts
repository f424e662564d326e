import { SealError, type SealLabel, type ServerKeys } from '@countersign/keys';

/** A column of values sealed with the master key, declared by the library that owns its table. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly label: SealLabel;
  /** SQL text of the context with which a row's value is sealed. The table's key is `id`, a uuid. */
  readonly context: string;
  /** The column is an array of sealed values. */
  readonly isList: boolean;
  /** The table has few rows, so a boot may read it. */
  readonly isSmall: boolean;
  /** The database role of gateways may write the column, so a value may name any version without having been sealed. */
  readonly gatewaysWrite: boolean;
}

/** Rows that depend on a version of the master key until they are used or expire. */
export interface VersionedRows {
  readonly name: string;
  /**
   * SQL text. $1 a version; $2 the lowest id of the last 25 hours, for tables partitioned by id. One row: `rows` is
   * the number of rows that depend on the version, `newestAt` the time of the newest or null.
   */
  readonly count: string;
  /** Whether these rows are lost with the version, so that no process may start without it. */
  readonly isNeeded: boolean;
  /** The database role of gateways may write the version of a row. */
  readonly gatewaysWrite: boolean;
  /** Seconds after which a row no longer depends on a key; null for rows that stay until they are used. */
  readonly livesSeconds: number | null;
  /** How the rows stop depending on a version, as a phrase for the operator. */
  readonly renewal: string;
}

/** A sealed value in its row. */
export interface SealedRow {
  readonly id: string;
  readonly context: string;
  readonly sealed: Buffer;
}

/** Everything that depends on the master key in the tables that a process knows. */
export interface KeyDependants {
  readonly columns: readonly SealedColumn[];
  readonly rows: readonly VersionedRows[];
}

/** Joins the declarations of several libraries. */
export const joinDependants = (...parts: readonly KeyDependants[]): KeyDependants => ({
  columns: parts.flatMap(({ columns }) => columns),
  rows: parts.flatMap(({ rows }) => rows),
});

/** The dependants whose version only control planes write, and those whose version gateways may write. */
export function byWriter({
  columns,
  rows,
}: KeyDependants): Readonly<Record<'controlPlanes' | 'gateways', KeyDependants>> {
  const of = (written: boolean): KeyDependants => ({
    columns: columns.filter(({ gatewaysWrite }) => gatewaysWrite === written),
    rows: rows.filter(({ gatewaysWrite }) => gatewaysWrite === written),
  });
  return { controlPlanes: of(false), gateways: of(true) };
}

export const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`;

/** Whether the value was sealed with a listed key, for this column and row. */
export function opens(keys: ServerKeys, { label }: SealedColumn, sealed: Buffer, context: string): boolean {
  try {
    keys.open(label, sealed, context);
    return true;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
