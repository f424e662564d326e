import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasMoreValues } from './json-values.js';

/** A colon for each member, a comma but for the first one, and a bracket or brace for each array and object. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: unknown[] = Object.values(value);
  const own = 1 + Math.max(0, inner.length - 1) + (Array.isArray(value) ? 0 : inner.length);
  return inner.reduce<number>((sum, each) => sum + valuesOf(each), own);
}

describe('the number of members and values of JSON', () => {
  it('counts members and values as JSON has them, whatever texts are between', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const counted = valuesOf(JSON.parse(json));
        const octets = Buffer.from(json);
        return !hasMoreValues(octets, counted) && (counted === 0 || hasMoreValues(octets, counted - 1));
      }),
    );
  });

  it.each(['', '"', '"\\\\', '{"', '{"a', ':::'])('is found for %j, which is not JSON', (text) => {
    expect(typeof hasMoreValues(Buffer.from(text), 2)).toBe('boolean');
  });
});
