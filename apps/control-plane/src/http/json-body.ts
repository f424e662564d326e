import { isUtf8 } from 'node:buffer';

/**
 * A JSON object as it was sent: a Map keeps the order of its members, integer-like names and `__proto__` included, and
 * has no inherited members.
 */
export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export type JsonBody =
  { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly because: string };

/** Deeper bodies are refused; the deepest legal body has two levels. */
export const MAX_JSON_DEPTH = 32;

const STRING = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y; // eslint-disable-line no-control-regex -- JSON forbids them in strings
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\n\r]*/y;

/**
 * Reads the octets of a body as one JSON object (RFC 8259), stricter than `JSON.parse` in three things: the octets must
 * be well-formed UTF-8 without a byte order mark, no object may hold the same name twice, and the depth is bounded.
 * Never throws. `because` is a sentence for the caller; it quotes nothing of the body.
 */
export function parseJsonObject(octets: Buffer): JsonBody {
  if (!isUtf8(octets)) return { ok: false, because: 'The body is not well-formed UTF-8.' };
  const reader = new JsonReader(octets.toString('utf8'));
  const value = reader.read();
  if (value === undefined) return { ok: false, because: reader.fault };
  if (!(value instanceof Map)) return { ok: false, because: 'The body must be a JSON object.' };
  return { ok: true, value };
}

/** Recursive-descent parser. `undefined` means "not JSON": no JSON value is undefined. */
class JsonReader {
  fault = 'The body is not valid JSON.';
  private at = 0;

  constructor(private readonly text: string) {}

  read(): JsonValue | undefined {
    this.skipSpace();
    const value = this.value(1);
    this.skipSpace();
    return this.at === this.text.length ? value : undefined;
  }

  private value(depth: number): JsonValue | undefined {
    switch (this.text.charCodeAt(this.at)) {
      case 0x7b:
        return this.nested(depth, () => this.object(depth));
      case 0x5b:
        return this.nested(depth, () => this.array(depth));
      case 0x22:
        return this.string();
      case 0x74:
        return this.literal('true', true);
      case 0x66:
        return this.literal('false', false);
      case 0x6e:
        return this.literal('null', null);
      default:
        return this.number();
    }
  }

  private nested(depth: number, read: () => JsonValue | undefined): JsonValue | undefined {
    if (depth > MAX_JSON_DEPTH) {
      this.fault = `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`;
      return undefined;
    }
    this.at += 1;
    this.skipSpace();
    return read();
  }

  private object(depth: number): JsonObject | undefined {
    const members = new Map<string, JsonValue>();
    if (this.consume(0x7d)) return members;
    do {
      const name = this.string();
      if (name === undefined || !this.consume(0x3a)) return undefined;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      if (members.has(name)) {
        this.fault = 'The body has an object with the same name twice.';
        return undefined;
      }
      members.set(name, value);
    } while (this.consume(0x2c));
    return this.consume(0x7d) ? members : undefined;
  }

  private array(depth: number): JsonValue[] | undefined {
    const items: JsonValue[] = [];
    if (this.consume(0x5d)) return items;
    do {
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      items.push(value);
    } while (this.consume(0x2c));
    return this.consume(0x5d) ? items : undefined;
  }

  private string(): string | undefined {
    const quoted = this.match(STRING);
    if (quoted === undefined) return undefined;
    if (!quoted.includes('\\')) return quoted.slice(1, -1);
    const decoded: unknown = JSON.parse(quoted);
    return typeof decoded === 'string' ? decoded : undefined;
  }

  private number(): number | undefined {
    const digits = this.match(NUMBER);
    return digits === undefined ? undefined : Number(digits);
  }

  private literal<T extends boolean | null>(literal: string, value: T): T | undefined {
    if (!this.text.startsWith(literal, this.at)) return undefined;
    this.at += literal.length;
    return value;
  }

  /** Consumes one punctuation mark, with the white space on both sides of it. */
  private consume(mark: number): boolean {
    this.skipSpace();
    if (this.text.charCodeAt(this.at) !== mark) return false;
    this.at += 1;
    this.skipSpace();
    return true;
  }

  private skipSpace(): void {
    const next = this.text.charCodeAt(this.at);
    if (next > 0x20 || Number.isNaN(next)) return;
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return undefined;
    const found = this.text.slice(this.at, pattern.lastIndex);
    this.at = pattern.lastIndex;
    return found;
  }
}
