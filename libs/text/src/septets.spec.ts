import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText, encodeGsm, fillBitsAfter, packSeptets, unpackSeptets } from './index.js';

const septets = fc.uint8Array({ max: 0x7f, maxLength: 200 });

describe('packed septets', () => {
  it.each([
    ['hellohello', 'e8329bfd4697d9ec37'],
    ['1234567', '31d98c56b3dd00'],
    ['12345678', '31d98c56b3dd70'],
    ['', ''],
  ])('"%s" is %s', (text, packed) => {
    expect(packSeptets(Buffer.from(text, 'ascii')).toString('hex')).toBe(packed);
    expect(unpackSeptets(Buffer.from(packed, 'hex')).toString('ascii')).toBe(text);
  });

  it('come back when their number is known, behind any header', () => {
    fc.assert(
      fc.property(septets, fc.nat(6), (original, fillBits) => {
        const packed = packSeptets(original, fillBits);
        expect(packed.length).toBe(Math.ceil((original.length * 7 + fillBits) / 8));
        expect(unpackSeptets(packed, original.length, fillBits)).toEqual(Buffer.from(original));
      }),
    );
  });

  it('come back when their number is not known, but for a last @ that looks like padding', () => {
    fc.assert(
      fc.property(septets, (original) => {
        const unpacked = unpackSeptets(packSeptets(original));
        const cut = original.length % 8 === 0 && original.at(-1) === 0;
        expect(unpacked).toEqual(Buffer.from(cut ? original.subarray(0, -1) : original));
      }),
    );
  });

  it('never hold more than their octets have room for', () => {
    expect(unpackSeptets(Buffer.of(0x31), 1000)).toEqual(Buffer.of(0x31));
    expect(unpackSeptets(Buffer.alloc(0), 3, 6)).toEqual(Buffer.alloc(0));
  });

  it.each([
    [0, 0],
    [6, 1],
    [7, 0],
    [8, 6],
    [12, 2],
  ])('behind a header of %i octets come %i fill bits', (octets, bits) => expect(fillBitsAfter(octets)).toBe(bits));

  it('behind a header of 6 octets read as text', () => {
    const packed = packSeptets(encodeGsm('AUTH-ACME €') ?? Buffer.alloc(0), fillBitsAfter(6));
    expect(decodeText(packed, 0, 'gsm-packed', fillBitsAfter(6))).toBe('AUTH-ACME €');
  });
});
