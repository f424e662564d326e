import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codingOf } from './accept-encoding.js';

/** A weight as written, and its value. */
const weights = fc.oneof(
  fc.constant(['', 1] as const),
  fc
    .integer({ min: 0, max: 1_000 })
    .chain((thousandths) =>
      fc
        .constantFrom(';q=', ' ; q=', ';\tQ=')
        .map((before) => [`${before}${(thousandths / 1_000).toFixed(3)}`, thousandths / 1_000] as const),
    ),
);
const CODINGS = ['br', 'gzip', 'identity', '*', 'deflate', 'zstd'] as const;

describe('the coding of an answer', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, identity', 'identity'],
    ['gzip, identity', 'gzip'],
    ['identity;q=0, deflate', 'identity'],
    ['gzip;q=2', 'identity'],
    ['gzip;q=0', 'identity'],
    ['brotli, gz ip, "br"', 'identity'],
    [', ,gzip,', 'gzip'],
  ])('for "%s" is %s', (header, coding) => {
    expect(codingOf(header)).toBe(coding);
  });

  it('is one that is accepted, and none that we produce has a greater weight', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom(...CODINGS)),
        fc.array(weights, { minLength: 6, maxLength: 6 }),
        (names, all) => {
          const sent = new Map(names.map((name, at) => [name, all[at] ?? (['', 1] as const)]));
          const chosen = codingOf([...sent].map(([name, [written]]) => name + written).join(', '));
          const weightOf = (name: 'br' | 'gzip'): number => (sent.get(name) ?? sent.get('*'))?.[1] ?? 0;
          const greatest = Math.max(weightOf('br'), weightOf('gzip'));
          if (chosen === 'identity') {
            expect(greatest === 0 || (sent.get('identity')?.[1] ?? 0) > greatest).toBe(true);
          } else {
            expect(weightOf(chosen)).toBeGreaterThan(0);
            expect([weightOf(chosen), weightOf(chosen) >= (sent.get('identity')?.[1] ?? 0)]).toEqual([greatest, true]);
          }
        },
      ),
    );
  });

  it('of any text is one that we produce', () => {
    const part = fc.constantFrom('br', 'gzip', ';', 'q', '=', '0', '.', '5', ',', ' ', '*', '"', '\t');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join('')),
        ),
        (text) => {
          expect(['br', 'gzip', 'identity']).toContain(codingOf(text));
        },
      ),
    );
  });
});
