import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalId, receiptIdOf } from './message-id.js';

describe('the message id as spelled in the receipt', () => {
  it.each([
    ['as-is', '00AbCd1', '00AbCd1'],
    ['hex-to-dec', '7F', '127'],
    ['hex-to-dec', '000000ff', '255'],
    ['hex-to-dec', '0x1a2B', '6699'],
    ['dec-to-hex', '127', '7f'],
    ['dec-to-hex', '0000255', 'ff'],
    ['hex-to-dec', 'ffffffffffffffffffff', '1208925819614629174706175'],
  ] as const)('by %s: %s is %s', (base, given, expected) => {
    expect(receiptIdOf(given, base)).toBe(expected);
  });

  it.each([
    ['hex-to-dec', '8c9fe1b4-0001'],
    ['hex-to-dec', ''],
    ['dec-to-hex', '7f'],
    ['dec-to-hex', 'north-1'],
  ] as const)('by %s is unchanged if it is not such a number: %s', (base, given) => {
    expect(receiptIdOf(given, base)).toBe(given);
  });

  it('is matched in both directions, with any zeros and case', () => {
    const spelt = fc.record({ number: fc.bigInt({ min: 0n, max: 2n ** 128n }), zeros: fc.nat(8), upper: fc.boolean() });
    fc.assert(
      fc.property(spelt, ({ number, zeros, upper }) => {
        const inHex = '0'.repeat(zeros) + (upper ? number.toString(16).toUpperCase() : number.toString(16));
        const inDecimal = '0'.repeat(zeros) + number.toString();
        expect(canonicalId(receiptIdOf(inHex, 'hex-to-dec'))).toBe(canonicalId(inDecimal));
        expect(canonicalId(receiptIdOf(inDecimal, 'dec-to-hex'))).toBe(canonicalId(inHex));
      }),
    );
  });

  it('is a text for every text', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('as-is', 'hex-to-dec', 'dec-to-hex'), (id, base) => {
        expect(typeof canonicalId(receiptIdOf(id, base))).toBe('string');
      }),
    );
  });
});
