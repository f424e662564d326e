import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeUtf8, decodeUtf8Piece } from './utf8.js';

describe('UTF-8', () => {
  it('is decoded where the octets are that, and not only ASCII', () => {
    expect(decodeUtf8(Buffer.from('AUTH–ACME'))).toBe('AUTH–ACME');
    expect(decodeUtf8(Buffer.from('AUTH-ACME'))).toBeNull();
    expect(decodeUtf8(Buffer.from('Café', 'latin1'))).toBeNull();
    expect(decodeUtf8(Buffer.alloc(0))).toBeNull();
  });

  it('gives every text beyond ASCII back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!/^[\0-\x7f]*$/.test(text));
        expect(decodeUtf8(Buffer.from(text))).toBe(text);
      }),
    );
  });

  it('of a piece leaves out the characters that are cut, and says so', () => {
    const octets = Buffer.from('–a🙂');
    expect(decodeUtf8Piece(octets)).toEqual({ text: '–a🙂', cutBefore: false, cutAfter: false });
    expect(decodeUtf8Piece(octets.subarray(1))).toEqual({ text: 'a🙂', cutBefore: true, cutAfter: false });
    expect(decodeUtf8Piece(octets.subarray(0, -1))).toEqual({ text: '–a', cutBefore: false, cutAfter: true });
    expect(decodeUtf8Piece(octets.subarray(2, 5))).toEqual({ text: 'a', cutBefore: true, cutAfter: true });
    expect(decodeUtf8Piece(Buffer.from('Café!', 'latin1'))).toBeNull();
  });

  it('of any cut of a text leaves out at most the cut character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-composite', maxLength: 20 }), fc.nat(80), (text, at) => {
        const octets = Buffer.from(text);
        const [first, second] = [octets.subarray(0, at), octets.subarray(at)].map(decodeUtf8Piece);
        const cut = first?.cutAfter ?? false;
        expect(second?.cutBefore).toBe(cut);
        const characters = Array.from(text);
        const joined = Array.from(`${first?.text ?? ''}${second?.text ?? ''}`);
        expect(joined.length).toBe(characters.length - (cut ? 1 : 0));
      }),
    );
  });

  it('of any octets never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), (octets) => {
        expect(typeof (decodeUtf8Piece(octets)?.text ?? '')).toBe('string');
        expect(typeof (decodeUtf8(octets) ?? '')).toBe('string');
      }),
    );
  });
});
