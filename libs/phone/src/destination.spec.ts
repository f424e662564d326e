import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPhone, destinationCandidates } from './index.js';

const candidates = (ton: number, value: string, country: string | null = 'US', npi = 1): string[] =>
  destinationCandidates({ ton, npi, value }, country);

describe('the candidates of a destination', () => {
  it.each([
    [1, '14155552671', null, ['+14155552671']],
    [1, '0014155552671', null, ['+14155552671']],
    [3, '+14155552671', null, ['+14155552671']],
    [2, '4155552671', 'US', ['+14155552671']],
    [2, '07911123456', 'GB', ['+447911123456']],
    [2, '4155552671', null, []],
    [0, '4915112345678', 'US', ['+4915112345678']],
    [0, '004915112345678', 'US', ['+4915112345678']],
    [0, '4155552671', 'US', ['+14155552671']],
    [0, '3614567890', 'US', ['+3614567890', '+13614567890']],
    [0, '4915112345678', 'DE', ['+4915112345678']],
    [3, '60606', 'CH', []],
    [5, 'ACME', 'US', []],
    [0, '', 'US', []],
  ] as const)('TON %i, "%s" in %s: %j', (ton, value, country, expected) =>
    expect(candidates(ton, value, country)).toEqual(expected),
  );

  it('are E.164, distinct, and routable for an unknown type, for any address', () => {
    const value = fc.oneof(fc.string({ maxLength: 25 }), fc.stringMatching(/^(\+|00|0)?[0-9]{3,17}$/));
    const country = fc.constantFrom('US', 'DE', 'IT', '001', null);
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), value, country, (ton, npi, text, where) => {
        const found = candidates(ton, text, where, npi);
        expect(new Set(found).size).toBe(found.length);
        for (const candidate of found) {
          expect(candidate).toMatch(/^\+[1-9][0-9]{6,14}$/);
          if (ton === 0 && !text.startsWith('+')) expect(checkPhone(candidate).ok).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
