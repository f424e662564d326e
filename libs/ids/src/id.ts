import { randomFillSync } from 'node:crypto';

/** An id as PostgreSQL writes it: 36 lower-case characters for 16 bytes. Sorts by creation time. */
export type Uuid = string;

/** Creates ids, stamped with its own clock. */
export interface IdSource {
  newId(): Uuid;
}

const CANONICAL = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME_LIMIT_MS = 2 ** 48;
const RANDOM_BYTES = 10;
const LOWEST_RANDOM = '00000000000000000000';
const HIGHEST_RANDOM = 'ffffffffffffffffffff';
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RENDERED = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const TWO_25 = 2 ** 25;
const TWO_20 = 2 ** 20;

const VALUES = new Uint8Array(128);
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value;

const uuid = (timeHex: string, randomHex: string): Uuid =>
  `${timeHex.slice(0, 8)}-${timeHex.slice(8)}-${randomHex.slice(0, 4)}-${randomHex.slice(4, 8)}-${randomHex.slice(8)}`;

/** Whether a value has the form of an id; upper case is refused. */
export const isUuid = (value: unknown): value is Uuid => typeof value === 'string' && CANONICAL.test(value);

const timeHex = (ms: number): string => {
  if (!Number.isInteger(ms) || ms < 0 || ms >= TIME_LIMIT_MS) throw new RangeError(`no id for the time ${ms} ms`);
  return ms.toString(16).padStart(12, '0');
};

/** The id of one millisecond and 10 random bytes: 48-bit unix time, then 80 random bits, most significant first. */
export function idOf(ms: number, random: Uint8Array): Uuid {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`an id has ${RANDOM_BYTES} random bytes`);
  return uuid(timeHex(ms), Buffer.from(random.buffer, random.byteOffset, RANDOM_BYTES).toString('hex'));
}

/** One call to the random generator provides 400 ids: the call is expensive, not the bytes. */
const pool = Buffer.alloc(RANDOM_BYTES * 400);
let used = pool.length;

function randomBytes(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.subarray(used - RANDOM_BYTES, used);
}

/** A new id for `nowMs` by the database's clock (see DatabaseClock). */
export function newId(nowMs: number): Uuid {
  return idOf(nowMs, randomBytes());
}

/** The lowest id of that millisecond: a bound that restricts a statement to the needed partitions. */
export function firstIdAt(ms: number): Uuid {
  return uuid(timeHex(ms), LOWEST_RANDOM);
}

/** The highest id of that millisecond. */
export function lastIdAt(ms: number): Uuid {
  return uuid(timeHex(ms), HIGHEST_RANDOM);
}

/** Maximum error of the time in an id: each process uses its own reading of the database's clock. */
export const ID_CLOCK_SLACK_MS = 60_000;

/** The unix millisecond in an id. */
export function idTimeMs(id: Uuid): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * The lowest and the highest of some ids, in any order: bounds for statements over `ANY(ids)`, since the planner
 * prunes partitions by comparison. Throws for an empty list.
 */
export function idBounds(ids: readonly Uuid[]): { low: Uuid; high: Uuid } {
  const [first] = ids;
  if (first === undefined) throw new RangeError('no bounds of an empty list of ids');
  let low = first;
  let high = first;
  for (const id of ids) {
    if (id < low) low = id;
    else if (id > high) high = id;
  }
  return { low, high };
}

const symbols5 = (bits25: number): string =>
  ALPHABET.charAt(bits25 >>> 20) +
  ALPHABET.charAt((bits25 >>> 15) & 31) +
  ALPHABET.charAt((bits25 >>> 10) & 31) +
  ALPHABET.charAt((bits25 >>> 5) & 31) +
  ALPHABET.charAt(bits25 & 31);

const symbols4 = (bits20: number): string =>
  ALPHABET.charAt(bits20 >>> 15) +
  ALPHABET.charAt((bits20 >>> 10) & 31) +
  ALPHABET.charAt((bits20 >>> 5) & 31) +
  ALPHABET.charAt(bits20 & 31);

/**
 * A rendered id: prefix, underscore, 26 Crockford base32 characters in upper case, the 128-bit number most
 * significant first (contract, Session).
 */
export function renderId(prefix: string, id: Uuid): string {
  const hex = id.replaceAll('-', '');
  const time = parseInt(hex.slice(0, 12), 16);
  let text = `${prefix}_${symbols5(Math.floor(time / TWO_25))}${symbols5(time % TWO_25)}`;
  for (let at = 12; at < 32; at += 5) text += symbols4(parseInt(hex.slice(at, at + 5), 16));
  return text;
}

const bitsOf = (symbols: string): number => {
  let bits = 0;
  for (let at = 0; at < symbols.length; at++) bits = bits * 32 + (VALUES[symbols.charCodeAt(at)] ?? 0);
  return bits;
};

/** Parses `<prefix>_…`; null for any text that `renderId` would not write, lower case included. */
export function parseId(prefix: string, text: string): Uuid | null {
  if (text.length !== prefix.length + 27 || !text.startsWith(prefix) || text.charAt(prefix.length) !== '_') return null;
  const symbols = text.slice(prefix.length + 1);
  if (!RENDERED.test(symbols)) return null;
  const time = bitsOf(symbols.slice(0, 5)) * TWO_25 + bitsOf(symbols.slice(5, 10));
  let random = '';
  for (let at = 10; at < 26; at += 4) random += (bitsOf(symbols.slice(at, at + 4)) + TWO_20).toString(16).slice(1);
  return uuid(timeHex(time), random);
}
