import fc from 'fast-check';
import { serializeItem } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey } from './idempotency-key.js';

const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });

describe('an Idempotency-Key', () => {
  it('is 1 to 255 printable ASCII characters', () => {
    expect(parseIdempotencyKey('k')).toBe('k');
    expect(parseIdempotencyKey('k'.repeat(255))).toBe('k'.repeat(255));
    expect(parseIdempotencyKey('order 17/a "b"')).toBe('order 17/a "b"');
    for (const illegal of ['', 'k'.repeat(256), 'clé', 'a\tb', 'a\u0000b', '日本', '""']) {
      expect(parseIdempotencyKey(illegal)).toBeNull();
    }
  });

  it('is the same key as a quoted string of a structured field', () => {
    expect(parseIdempotencyKey('"8e03978e-40d5-43dd-bc93-6894a57f9324"')).toBe('8e03978e-40d5-43dd-bc93-6894a57f9324');
    expect(parseIdempotencyKey('"a\\"b\\\\c"')).toBe('a"b\\c');
  });

  it('is read from every string of a structured field', () => {
    const contents = printable.filter((text) => text.length >= 1 && text.length <= 255);
    fc.assert(fc.property(contents, (text) => parseIdempotencyKey(serializeItem([text, new Map()])) === text));
  });

  it('is 1 to 255 printable characters for every header', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), printable), (text) => {
        const key = parseIdempotencyKey(text);
        return key === null || /^[\x20-\x7e]{1,255}$/.test(key);
      }),
    );
  });
});
