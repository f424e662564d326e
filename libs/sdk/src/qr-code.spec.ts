import fc from 'fast-check';
import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import { qrCode, type QrModules } from './qr-code.js';

/** Octets that each version holds at level M (ISO/IEC 18004, table 7). */
const CAPACITIES = [
  14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666, 711, 779, 857, 911,
  997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989, 2099, 2213, 2331,
];

/** The mask that a code says it has: three bits of the format information, under that information's own mask. */
function maskOf(rows: QrModules): number {
  const bits = [2, 3, 4].map((x) => rows[8]?.[x] === true);
  return bits.reduce((number, bit) => number * 2 + Number(bit), 0) ^ 0b101;
}

/** The same code by another implementation. */
const byUqr = (text: string, maskPattern: number): QrModules =>
  encode(text, { ecc: 'M', boostEcc: false, border: 0, maskPattern }).data;

/** What is all digits or capitals others write shorter; these are octets to everybody. */
const TEXT = fc.string({ unit: 'grapheme', maxLength: 300 }).map((text) => `a${text}`);

describe('a QR code', () => {
  it('is drawn as another implementation draws it, whatever the text', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const rows = qrCode(text);
        expect(rows).toEqual(byUqr(text, maskOf(rows)));
      }),
      { numRuns: 60 },
    );
  });

  it.each(CAPACITIES.map((octets, at) => ({ version: at + 1, octets })))(
    'of version $version holds $octets octets and no more, drawn as another implementation draws them',
    ({ version, octets }) => {
      const rows = qrCode('a'.repeat(octets));
      expect(rows).toHaveLength(17 + 4 * version);
      expect(rows).toEqual(byUqr('a'.repeat(octets), maskOf(rows)));
      if (version === 40) expect(() => qrCode('a'.repeat(octets + 1))).toThrow(RangeError);
      else expect(qrCode('a'.repeat(octets + 1))).toHaveLength(21 + 4 * version);
    },
  );

  it('is about as dark as it is light, whatever it holds', () => {
    fc.assert(
      fc.property(fc.constantFrom('a', '\u0000', '\uffff'), fc.nat(200), (character, length) => {
        const modules = qrCode(character.repeat(length)).flat();
        const share = modules.filter(Boolean).length / modules.length;
        expect(share).toBeGreaterThan(0.4);
        expect(share).toBeLessThan(0.6);
      }),
      { numRuns: 40 },
    );
  });
});
