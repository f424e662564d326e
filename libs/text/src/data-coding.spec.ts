import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText, encodeGsm, encodeUcs2, packSeptets, type DefaultAlphabet } from './index.js';

const DEFAULTS: readonly DefaultAlphabet[] = ['gsm', 'latin1', 'ascii', 'gsm-packed'];
const ALL_CODINGS = Array.from({ length: 256 }, (_, dataCoding) => dataCoding);
const range = (from: number, to: number): number[] => ALL_CODINGS.slice(from, to + 1);

const DEFAULT_CODINGS = [
  0,
  ...range(0x10, 0x13),
  ...range(0x40, 0x43),
  ...range(0x50, 0x53),
  ...range(0xc0, 0xdf),
].concat(range(0xf0, 0xf3), range(0xf8, 0xfb));
const UCS2_CODINGS = [8, ...range(0x18, 0x1b), ...range(0x48, 0x4b), ...range(0x58, 0x5b), ...range(0xe0, 0xef)];
const LATIN1_CODINGS = ALL_CODINGS.filter(
  (coding) => !DEFAULT_CODINGS.includes(coding) && !UCS2_CODINGS.includes(coding),
);

const TOKEN = 'AUTH-ACME-0123456789ABCDEF';
const SAMPLE = '@é_$';

describe('data_coding', () => {
  it.each(DEFAULT_CODINGS)("%i is the carrier's default alphabet", (coding) => {
    const gsm = encodeGsm(SAMPLE) ?? Buffer.alloc(0);
    expect(decodeText(gsm, coding, 'gsm')).toBe(SAMPLE);
    expect(decodeText(packSeptets(gsm), coding, 'gsm-packed')).toBe(SAMPLE);
    expect(decodeText(Buffer.from(SAMPLE, 'latin1'), coding, 'latin1')).toBe(SAMPLE);
    expect(decodeText(Buffer.from(TOKEN, 'latin1'), coding, 'ascii')).toBe(TOKEN);
  });

  it.each(UCS2_CODINGS)('%i is UCS-2, whatever the default alphabet', (coding) => {
    for (const alphabet of DEFAULTS) expect(decodeText(encodeUcs2('Привет 👋'), coding, alphabet)).toBe('Привет 👋');
  });

  it.each(LATIN1_CODINGS)('%i is decoded as Latin-1, whatever the default alphabet', (coding) => {
    for (const alphabet of DEFAULTS) expect(decodeText(Buffer.from(SAMPLE, 'latin1'), coding, alphabet)).toBe(SAMPLE);
  });

  it('1 (IA5) keeps the characters that GSM 03.38 encodes differently', () => {
    expect(decodeText(Buffer.from('AUTH_A-[x]@ Café', 'latin1'), 1, 'gsm')).toBe('AUTH_A-[x]@ Café');
  });

  it('a token is unchanged under any 8-bit alphabet: letters, digits and the hyphen have the same codes', () => {
    for (const coding of [...DEFAULT_CODINGS, ...LATIN1_CODINGS]) {
      for (const alphabet of ['gsm', 'latin1', 'ascii'] as const) {
        expect(decodeText(Buffer.from(TOKEN, 'ascii'), coding, alphabet)).toBe(TOKEN);
      }
    }
  });

  it('any octets under any coding give a text, and are not modified', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom(...DEFAULTS),
        fc.nat(6),
        (octets, alphabet, fill) => {
          const copy = Uint8Array.from(octets);
          for (const coding of [...ALL_CODINGS, -1, 256, Number.NaN]) {
            expect(typeof decodeText(octets, coding, alphabet, fill)).toBe('string');
          }
          expect(octets).toEqual(copy);
        },
      ),
      { numRuns: 50 },
    );
  });
});
