import type { JsonValue } from './json-body.js';

/** The first characters with which a spreadsheet takes a text for a formula, in full width too, and white space before one. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/** A phone in E.164, masked or not: digits alone run nothing, and an apostrophe would make it useless to other programs. */
const PHONE = /^\+[0-9][0-9*]*$/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * A table in CSV (RFC 4180): the columns, then one line for each row, each with CRLF. Absent and null members are empty,
 * objects and arrays JSON text. A text that a spreadsheet would run begins with an apostrophe.
 */
export function renderCsv(columns: readonly string[], rows: readonly ReadonlyMap<string, JsonValue>[]): string {
  const lines = [columns.map(quote), ...rows.map((row) => columns.map((column) => renderCell(row.get(column))))];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

function renderCell(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  return quote(typeof value === 'string' ? neutralize(value) : jsonText(value));
}

/** JSON text with the members in their order, integer-like names and `__proto__` included. */
function jsonText(value: JsonValue): string {
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, JsonValue>)];
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join(',')}}`;
  }
  return isList(value) ? `[${value.map(jsonText).join(',')}]` : JSON.stringify(value);
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

const neutralize = (text: string): string => (FORMULA.test(text) && !PHONE.test(text) ? `'${text}` : text);

const quote = (cell: string): string => (NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
