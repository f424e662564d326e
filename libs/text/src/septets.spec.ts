import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText, encodeGsm, fillBitsAfter, packSeptets, paddedSeptets, unpackSeptets } from './index.js';

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

  it('are unpacked unchanged when their number is known, after any header', () => {
    fc.assert(
      fc.property(septets, fc.nat(6), (original, fillBits) => {
        const packed = packSeptets(original, fillBits);
        expect(packed.length).toBe(Math.ceil((original.length * 7 + fillBits) / 8));
        expect(unpackSeptets(packed, original.length, fillBits)).toEqual(Buffer.from(original));
      }),
    );
  });

  it('are unpacked unchanged when their number is unknown, except a last @ or CR that equals padding', () => {
    fc.assert(
      fc.property(septets, (original) => {
        const unpacked = unpackSeptets(packSeptets(original));
        const cut = original.length % 8 === 0 && [0, 0x0d].includes(original.at(-1) ?? -1);
        expect(unpacked).toEqual(Buffer.from(cut ? original.subarray(0, -1) : original));
      }),
    );
  });

  it.each([
    ['1234567', '31d98c56b3dd1a'],
    ['1234567\r', '31d98c56b3dd1a0d'],
    ['12345678', '31d98c56b3dd70'],
    ['', ''],
  ])('"%s" is %s when the peer counts octets', (text, packed) => {
    expect(packSeptets(paddedSeptets(Buffer.from(text, 'ascii'))).toString('hex')).toBe(packed);
  });

  it('are unpacked unchanged after padding, except that a last carriage return may be doubled', () => {
    fc.assert(
      fc.property(septets, (original) => {
        const text = Buffer.from(original);
        const back = unpackSeptets(packSeptets(paddedSeptets(text)));
        const doubled = text.length > 0 && text.length % 8 === 0 && text.at(-1) === 0x0d;
        const cut = text.length > 0 && text.length % 8 === 0 && text.at(-1) === 0;
        if (doubled) expect(back).toEqual(Buffer.concat([text, Buffer.of(0x0d)]));
        else expect(back).toEqual(cut ? text.subarray(0, -1) : text);
      }),
    );
  });

  it('never exceed the capacity of their octets', () => {
    expect(unpackSeptets(Buffer.of(0x31), 1000)).toEqual(Buffer.of(0x31));
    expect(unpackSeptets(Buffer.alloc(0), 3, 6)).toEqual(Buffer.alloc(0));
  });

  it.each([
    [0, 0],
    [6, 1],
    [7, 0],
    [8, 6],
    [12, 2],
  ])('a header of %i octets is followed by %i fill bits', (octets, bits) => expect(fillBitsAfter(octets)).toBe(bits));

  it('are decoded after a header of 6 octets', () => {
    const packed = packSeptets(encodeGsm('AUTH-ACME €') ?? Buffer.alloc(0), fillBitsAfter(6));
    expect(decodeText(packed, 0, 'gsm-packed', fillBitsAfter(6))).toBe('AUTH-ACME €');
  });
});
