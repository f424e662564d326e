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
  } = {},
): string {
  const [added, removed] = [new Set<PropertyKey>(more.with), new Set<PropertyKey>(more.without)];
  return declaredColumns(entity)
    .filter(({ property, options }) => added.has(property) || (options.select !== false && !removed.has(property)))
    .map((column) => selected(column, more.table))
    .join(', ');
}
