import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeUcs2, encodeUcs2 } from './index.js';

const TOKEN = 'AUTH-ACME-0123456789ABCDEF';
const littleEndian = (text: string): Buffer => Buffer.from(text, 'utf16le');

describe('UCS-2', () => {
  it('is encoded as big-endian without a byte order mark', () => {
    expect(encodeUcs2('A€').toString('hex')).toBe('004120ac');
    expect(decodeUcs2(Buffer.from('004120ac', 'hex'))).toBe('A€');
  });

  it('uses a byte order mark and removes it', () => {
    expect(decodeUcs2(encodeUcs2(`\ufeff${TOKEN}`))).toBe(TOKEN);
    expect(decodeUcs2(littleEndian(`\ufeff${TOKEN}`))).toBe(TOKEN);
  });

  it('is decoded as little-endian when only that is plausible', () => {
    expect(decodeUcs2(littleEndian(TOKEN))).toBe(TOKEN);
    expect(decodeUcs2(littleEndian(`${TOKEN}\nこんにちは`))).toBe(`${TOKEN}\nこんにちは`);
  });

  it.each(['一', '一二三四五六七八', '倀倀倀一', 'Я, AUTH', 'Ā'.repeat(10)])('"%s" is not decoded as swapped', (text) =>
    expect(decodeUcs2(encodeUcs2(text))).toBe(text),
  );

  it('keeps surrogate pairs and ignores an odd last octet', () => {
    expect(decodeUcs2(encodeUcs2('👍 ok'))).toBe('👍 ok');
    expect(decodeUcs2(Buffer.concat([encodeUcs2(TOKEN), Buffer.of(0)]))).toBe(TOKEN);
    expect(decodeUcs2(Buffer.of(0x41))).toBe('');
  });

  it('every text with an ASCII letter, digit or space is decoded unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (before, after) => {
        const text = `${before.replaceAll('\ufeff', '').replaceAll('\ufffe', '')} ${after}`;
        expect(decodeUcs2(encodeUcs2(text))).toBe(text);
      }),
    );
  });

  it('does not modify its input', () => {
    const octets = encodeUcs2(TOKEN);
    const copy = Buffer.from(octets);
    decodeUcs2(octets);
    expect(octets).toEqual(copy);
  });
});
