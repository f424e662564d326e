import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metadataFault, metadataPairs } from './metadata.constraint.js';

const of = (...pairs: [string, unknown][]) => new Map(pairs);
const keys = (count: number) => of(...Array.from({ length: count }, (_, at): [string, string] => [`k${at}`, '']));

describe('metadata', () => {
  it('may be empty, and may hold 16 keys', () => {
    expect(metadataFault(of())).toBeNull();
    expect(metadataFault(keys(16))).toBeNull();
    expect(metadataFault(keys(17))).toEqual({ within: undefined });
  });

  it('must be an object', () => {
    for (const value of [null, undefined, [], 'x', 1, true])
      expect(metadataFault(value)).toEqual({ within: undefined });
  });

  it('must hold strings only; the fault names the first illegal key', () => {
    for (const value of [null, 1, true, [], of()]) {
      expect(metadataFault(of(['a', ''], ['orderId', value]))).toEqual({ within: 'orderId' });
    }
  });

  it('counts characters, not code units', () => {
    expect(metadataFault(of(['a', '😀'.repeat(512)]))).toBeNull();
    expect(metadataFault(of(['a', '😀'.repeat(513)]))).toEqual({ within: 'a' });
    expect(metadataFault(of(['a', 'x'.repeat(513)]))).toEqual({ within: 'a' });
    expect(metadataFault(of(['😀'.repeat(64), 'x']))).toBeNull();
    expect(metadataFault(of(['😀'.repeat(65), 'x']))).toEqual({ within: '😀'.repeat(65) });
    expect(metadataFault(of(['', 'x']))).toEqual({ within: undefined });
  });

  it('is read as pairs in the order of its keys', () => {
    const strings = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 8 }), fc.string()), {
      selector: ([key]) => key,
      maxLength: 16,
    });
    fc.assert(
      fc.property(strings, (pairs) => {
        expect(metadataPairs(new Map(pairs))).toEqual(pairs);
      }),
    );
  });
});
