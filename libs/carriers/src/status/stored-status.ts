/** A field of a stored status: the value, or undefined for one that no gateway writes. */
type Field<Value> = (stored: unknown) => Value | undefined;

/** The last year that RFC 3339 has. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const isInstant = (ms: number): boolean => ms >= 0 && ms <= LATEST_MS;

/** An instant as RFC 3339 from the JSON of PostgreSQL or of a gateway; null for another value. */
export function parseInstant(stored: unknown): string | null {
  const ms = typeof stored === 'string' ? Date.parse(stored) : NaN;
  return isInstant(ms) ? new Date(ms).toISOString() : null;
}

export const text: Field<string> = (stored) => (typeof stored === 'string' ? stored : undefined);
export const flag: Field<boolean> = (stored) => (typeof stored === 'boolean' ? stored : undefined);
export const instant: Field<string> = (stored) => parseInstant(stored) ?? undefined;
export const count: Field<number> = (stored) =>
  typeof stored === 'number' && Number.isSafeInteger(stored) && stored >= 0 ? stored : undefined;
export const rate: Field<number> = (stored) =>
  typeof stored === 'number' && Number.isFinite(stored) && stored >= 0 ? stored : undefined;
export const oneOf =
  <Value extends string>(values: readonly Value[]): Field<Value> =>
  (stored) =>
    values.find((value) => value === stored);
export const orNull =
  <Value>(field: Field<Value>): Field<Value | null> =>
  (stored) =>
    stored === null ? null : field(stored);

/** One parser for each field. */
export type StatusFields<Status> = { readonly [Name in keyof Status]-?: Field<Status[Name]> };

/**
 * The fields of a status that a gateway stored as JSON. It may be of another version, or written by other means: a field that
 * is missing or has another value has that of `otherwise`.
 */
export function parseStatus<Status extends object>(
  fields: StatusFields<Status>,
  otherwise: Status,
  stored: unknown,
): Status {
  const members = typeof stored === 'object' && stored !== null ? stored : {};
  const parsed = { ...otherwise };
  for (const name of Object.keys(fields) as (keyof Status & string)[]) {
    const value = Object.hasOwn(members, name) ? fields[name]((members as Record<string, unknown>)[name]) : undefined;
    if (value !== undefined) parsed[name] = value;
  }
  return parsed;
}
