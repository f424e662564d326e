/** A JSON object with fields of unknown types. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** Whether there are more: call again with `startingAfter` set to the last id of this page. */
  readonly hasMore: boolean;
  /** Present if the page ended before it was full: use it instead of the last id, which may be missing. */
  readonly nextStartingAfter?: string;
}

/** A guard for pages of items of the given guard. */
export function pageOf<Item>(isItem: (value: unknown) => value is Item): (value: unknown) => value is Page<Item> {
  return (value): value is Page<Item> => {
    if (!isObject(value) || typeof value['hasMore'] !== 'boolean') return false;
    const next = value['nextStartingAfter'];
    if (next !== undefined && !isText(next)) return false;
    const items: unknown = value['data'];
    return Array.isArray(items) && items.every(isItem);
  };
}

/** Parses JSON text; undefined, which is not a JSON value, for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
