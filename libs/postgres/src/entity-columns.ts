import { Column, type ColumnOptions, getMetadataArgsStorage } from 'typeorm';

/** The class of an entity. */
export type EntityClass<Entity extends object = object> = abstract new (...args: never[]) => Entity;

/** A moment: `timestamptz(3)`. */
export const TimeColumn = (options: ColumnOptions = {}): PropertyDecorator =>
  Column({ type: 'timestamptz', precision: 3, ...options });

/** The time of the insert. Not selected: ids sort by time. */
export const CreatedAtColumn = (): PropertyDecorator =>
  TimeColumn({ default: () => 'clock_timestamp()', select: false });

interface DeclaredColumn {
  readonly property: string;
  readonly options: ColumnOptions & { readonly query?: (alias: string) => string };
}

/** The column of a property: `otpSender` is stored in `otp_sender`, unless the entity declares another name. */
export const columnName = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The declared columns, those of base classes first. */
function declaredColumns(entity: object): DeclaredColumn[] {
  const base: unknown = Object.getPrototypeOf(entity);
  const own = getMetadataArgsStorage().columns.filter(({ target }) => target === entity);
  const declared = own.map(({ propertyName, options }) => ({ property: propertyName, options }));
  return typeof base === 'function' ? [...declaredColumns(base), ...declared] : declared;
}

const nameOf = ({ property, options }: DeclaredColumn): string => options.name ?? columnName(property);

function selected(column: DeclaredColumn, table: string | undefined): string {
  const { property, options } = column;
  if (options.query !== undefined) return `(${options.query(table ?? '')}) AS "${property}"`;
  const name = table === undefined ? nameOf(column) : `${table}.${nameOf(column)}`;
  // A parsed `json` value would lose the order of its keys.
  const value = options.type === 'json' ? `${name}::text` : name;
  return value === property ? value : `${value} AS "${property}"`;
}

/**
 * The select list of an entity, each column under its property's name: columns declared with `select: false` only if
 * `with` names them, those in `without` never. `json` columns are selected as text. With `table`, names are qualified.
 */
export function columnsOf<Entity extends object>(
  entity: EntityClass<Entity>,
  more: {
    readonly table?: string;
    readonly with?: readonly (keyof Entity)[];
    readonly without?: readonly (keyof Entity)[];
    /** The columns, whatever `with` and `without` say. */
    readonly only?: readonly (keyof Entity)[];
  } = {},
): string {
  const [added, removed] = [new Set<PropertyKey>(more.with), new Set<PropertyKey>(more.without)];
  const only = more.only === undefined ? null : new Set<PropertyKey>(more.only);
  return declaredColumns(entity)
    .filter(
      ({ property, options }) =>
        only?.has(property) ?? (added.has(property) || (options.select !== false && !removed.has(property))),
    )
    .map((column) => selected(column, more.table))
    .join(', ');
}

/** Parts of an INSERT of rows that are given as a JSON array of objects with the entity's property names. */
export interface Recordset {
  /** The target columns. */
  readonly columns: string;
  /** Their values, in the same order. */
  readonly values: string;
  /** The column definition list of `json_to_recordset`. */
  readonly types: string;
}

/** All columns but those in `without`, which the statement itself sets. `bytea` is given in base64, `json` as JSON text. */
export function recordsetOf<Entity extends object>(
  entity: EntityClass<Entity>,
  { without }: { readonly without: readonly (keyof Entity)[] },
): Recordset {
  const removed = new Set<PropertyKey>(without);
  const given = declaredColumns(entity)
    .filter(({ property, options }) => options.query === undefined && !removed.has(property))
    .map((column) => ({ name: nameOf(column), ...inRecordset(column) }));
  return {
    columns: given.map(({ name }) => name).join(', '),
    values: given.map(({ value }) => value).join(', '),
    types: given.map(({ type }) => type).join(', '),
  };
}

function inRecordset({ property, options }: DeclaredColumn): { readonly value: string; readonly type: string } {
  const field = `"${property}"`;
  if (options.type === 'bytea') return { value: `decode(${field}, 'base64')`, type: `${field} text` };
  if (options.type === 'json') return { value: `${field}::json`, type: `${field} text` };
  return { value: field, type: `${field} ${String(options.type)}${options.array === true ? '[]' : ''}` };
}
