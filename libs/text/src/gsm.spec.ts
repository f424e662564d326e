import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeGsm, encodeGsm, GSM_SEGMENT_SEPTETS, gsmSeptets } from './index.js';

const BASIC = Array.from({ length: 128 }, (_, code) => code).filter((code) => code !== 0x1b);
const EXTENSION = Array.from('\f^{}\\[~]|€');
const GSM_TEXT = fc.string({ unit: fc.constantFrom(...BASIC.map((code) => decodeGsm(Buffer.of(code))), ...EXTENSION) });

const ESCAPE = '\u001b';
/** A character, an escape with the octet behind it, or a last escape. */
const PIECES = new RegExp(`${ESCAPE}?[^]`, 'g');

describe('the basic table', () => {
  it.each([
    [0x00, '@'],
    [0x01, '£'],
    [0x02, '$'],
    [0x09, 'Ç'],
    [0x0a, '\n'],
    [0x0d, '\r'],
    [0x10, 'Δ'],
    [0x11, '_'],
    [0x1a, 'Ξ'],
    [0x1e, 'ß'],
    [0x20, ' '],
    [0x24, '¤'],
    [0x2d, '-'],
    [0x40, '¡'],
    [0x5b, 'Ä'],
    [0x5f, '§'],
    [0x60, '¿'],
    [0x7f, 'à'],
  ])('0x%s is %s', (code, character) => {
    expect(decodeGsm(Buffer.of(code))).toBe(character);
    expect(encodeGsm(character)).toEqual(Buffer.of(code));
  });

  it('has 127 different characters, letters and digits at their ASCII codes', () => {
    const characters = BASIC.map((code) => decodeGsm(Buffer.of(code)));
    expect(new Set(characters).size).toBe(127);
    for (const character of 'ABCXYZabcxyz0189-') expect(encodeGsm(character)).toEqual(Buffer.from(character, 'ascii'));
  });
});

describe('the extension table', () => {
  it('uses an escape and a code', () => {
    expect(encodeGsm('€[x]')).toEqual(Buffer.from('1b651b3c781b3e', 'hex'));
    expect(decodeGsm(Buffer.from('1b651b3c781b3e', 'hex'))).toBe('€[x]');
  });

  it('an unknown code gives the character of the basic table, a doubled escape a space, a single one nothing', () => {
    expect(decodeGsm(Buffer.from('1b41', 'hex'))).toBe('A');
    expect(decodeGsm(Buffer.from('1b1b41', 'hex'))).toBe(' A');
    expect(decodeGsm(Buffer.from('411b', 'hex'))).toBe('A');
  });
});

describe('septets', () => {
  it.each([
    ['', 0],
    ['a'.repeat(160), GSM_SEGMENT_SEPTETS],
    ['a'.repeat(161), 161],
    [`${'a'.repeat(158)}€`, GSM_SEGMENT_SEPTETS],
    [`${'a'.repeat(159)}€`, 161],
    ['€'.repeat(80), GSM_SEGMENT_SEPTETS],
    ['“', null],
    ['👍', null],
    ['\u001b', null],
    ['ç', null],
  ])('of "%s" are counted', (text, septets) => expect(gsmSeptets(text)).toBe(septets));

  it('equal the length of the encoded text, and null exactly when it cannot be encoded', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), GSM_TEXT), (text) => {
        expect(gsmSeptets(text)).toBe(encodeGsm(text)?.length ?? null);
      }),
    );
  });
});

describe('round trips', () => {
  it('every text of the alphabet is decoded unchanged', () => {
    fc.assert(
      fc.property(GSM_TEXT, (text) => {
        const octets = encodeGsm(text);
        expect(octets === null ? null : decodeGsm(octets)).toBe(text);
      }),
    );
  });

  it('any octets are decoded as their characters are one by one, an escape with the octet behind it', () => {
    const octets = fc.oneof(fc.uint8Array(), fc.uint8Array({ max: 0x20 }), fc.uint8Array({ maxLength: 5_000 }));
    fc.assert(
      fc.property(octets, (all) => {
        const pieces = Buffer.from(all).toString('latin1').match(PIECES) ?? [];
        expect(decodeGsm(all)).toBe(pieces.map((piece) => decodeGsm(Buffer.from(piece, 'latin1'))).join(''));
      }),
    );
    expect(decodeGsm(Buffer.from('436166e9', 'hex'))).toBe('Café');
    expect(decodeGsm(Buffer.from('\u001be\u001b\u001b\u0010x'.repeat(20_000), 'latin1'))).toBe('€ Δx'.repeat(20_000));
  });
});
