import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsFault, limitsOf } from './key-limits.js';

const of = (...pairs: [string, unknown][]) => new Map(pairs);

describe('the limits of a key', () => {
  it('may be any of the four, or none', () => {
    expect(limitsFault(of())).toBeNull();
    expect(limitsFault(of(['default', 1], ['create', 1_000_000], ['poll', 60], ['usage', 60]))).toBeNull();
  });

  it.each([0, -1, 1.5, 1_000_001, '60', null, true, NaN, Infinity])('are no %j', (limit) => {
    expect(limitsFault(of(['default', 600], ['poll', limit]))).toBe('poll');
  });

  it.each(['ip', '', '__proto__', 'toString'])('have no member %j', (name) => {
    expect(limitsFault(of([name, 60]))).toBe(name);
  });

  it.each([null, [], 'x', 5, {}])('are an object, not %j', (value) => {
    expect(limitsFault(value)).toBeUndefined();
  });

  it('are stored as they were sent', () => {
    const name = fc.constantFrom('default', 'create', 'poll', 'usage');
    const limit = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(fc.dictionary(name, limit), (limits) => {
        expect(limitsOf(new Map(Object.entries(limits)))).toEqual({ ...limits });
      }),
    );
  });
});
