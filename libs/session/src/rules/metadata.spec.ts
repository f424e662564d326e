import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMetadata, parseMetadata } from './metadata.js';

describe('metadata', () => {
  it('keeps the order of keys, integer-like and __proto__ ones included', () => {
    const pairs = [
      ['zebra', '1'],
      ['10', 'ten'],
      ['__proto__', 'kept'],
      ['2', 'two'],
      ['constructor', ''],
    ] as const;
    const text = encodeMetadata(pairs);
    expect(text).toBe('{"zebra":"1","10":"ten","__proto__":"kept","2":"two","constructor":""}');
    expect(parseMetadata(text)).toEqual(pairs);
  });

  it('is decoded unchanged, whatever the characters', () => {
    const text = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 16 }), (pairs) => {
        expect(parseMetadata(encodeMetadata(pairs))).toEqual(pairs);
      }),
    );
  });

  it('is empty for an empty object', () => {
    expect(encodeMetadata([])).toBe('{}');
    expect(parseMetadata('{}')).toEqual([]);
  });
});
