import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseState } from './audit-state.js';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('a state of an audit entry', () => {
  it('is the stored value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        const text = JSON.stringify({ value });
        expect(parseState(text)).toEqual(JSON.parse(text));
      }),
    );
    for (const text of [null, 'null']) expect(parseState(text)).toBeNull();
  });

  it.each(['[]', '[1]', '"x"', '1', 'true'])('must be an object, unlike %s', (text) => {
    expect(parseState(text)).toEqual({ unreadable: 'JSON that is not an object' });
  });

  it('may have at most 64 levels', () => {
    expect(JSON.stringify(parseState(`{"a":${nested(63)}}`))).toBe(`{"a":${nested(63)}}`);
    for (const levels of [65, 6_000, 1_000_000]) {
      expect(parseState(nested(levels))).toEqual({ unreadable: 'JSON of more than 64 levels' });
      expect(parseState(`{"a":${nested(levels)}}`)).toEqual({ unreadable: 'JSON of more than 64 levels' });
    }
  });

  it('counts brackets, except in strings', () => {
    const value = { '[[': ['"', '\\', '\\"[', '['.repeat(100), { '{"{': '{'.repeat(100) }] };
    expect(parseState(JSON.stringify(value))).toEqual(value);
    expect(parseState(`["\\\\", ${nested(64)}]`)).toEqual({ unreadable: 'JSON of more than 64 levels' });
  });
});
