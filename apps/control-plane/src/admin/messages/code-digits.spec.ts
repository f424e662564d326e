import { asciiReadings, decodeText, encodeGsm, encodeUcs2, packSeptets, type DefaultAlphabet } from '@countersign/text';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideCodeDigits } from './code-digits.js';

describe('a revealed text', () => {
  it.each([
    [
      'out',
      '012345 is your Acme code. Do not share it.\n@acme.example #012345',
      '****** is your Acme code. Do not share it.\n@acme.example #******',
    ],
    ['out', '１２３４５６ ٠١٢٣٤٥', '****** ******'],
    ['in', 'AUTH-ACME-7Q2M9XK4T1234567\nSend this.', 'AUTH-ACME-7Q2M9XK4T1234567\nSend this.'],
    ['in', 'my code is 012345', 'my code is ******'],
    ['in', 'it said 012-345, or 0 1 2 3 4 5?', 'it said ***-***, or * * * * * *?'],
    ['in', 'room 12345', 'room 12345'],
    [
      'in',
      'id:7 stat:DELIVRD err:000 text:hi AUTH-ACME-7Q2M9XK4T1234567',
      'id:7 stat:DELIVRD err:000 text:** AUTH-ACME-7Q2M9XK4T1234567',
    ],
    ['in', 'id:1234567 stat:DELIVRD text:0f3a', 'id:******* stat:DELIVRD text:****'],
    ['in', 'done: 0f3a id:7 stat:DELIVRD', '***** **** **** ************'],
  ] as const)('%s: %j is shown as %j', (direction, text, shown) => expect(hideCodeDigits(text, direction)).toBe(shown));

  const code = fc.stringMatching(/^[0-9]{6}$/);
  const words = fc.string({ unit: 'binary', maxLength: 40 });

  it('of an outbound message contains no digit, and is otherwise unchanged', () => {
    fc.assert(
      fc.property(words, code, words, (before, digits, after) => {
        const text = before + digits + after;
        const shown = hideCodeDigits(text, 'out');
        expect(shown).not.toMatch(/\p{Nd}/u);
        expect(Array.from(shown)).toHaveLength(Array.from(text).length);
      }),
    );
  });

  const ascii = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((octet) => String.fromCharCode(octet)),
    maxLength: 40,
  });
  const octetsOf = fc.constantFrom<(text: string) => Buffer>(
    (text) => Buffer.from(text),
    (text) => packSeptets(Buffer.from(text)),
    (text) => encodeUcs2(text),
  );
  const alphabets = fc.constantFrom<DefaultAlphabet>('gsm', 'gsm-packed', 'latin1');

  it('shows no code that a link has read in another alphabet', () => {
    fc.assert(
      fc.property(ascii, octetsOf, octetsOf, code, ascii, alphabets, fc.constantFrom(0, 3, 8), (...drawn) => {
        const [before, first, second, digits, after, alphabet, dataCoding] = drawn;
        const octets = Buffer.concat([first(before), second(`${digits} is your code ${after}`)]);
        const shown = hideCodeDigits(decodeText(octets, dataCoding, alphabet), 'in');
        for (const again of [
          encodeUcs2(shown),
          packSeptets(encodeGsm(shown) ?? Buffer.alloc(0)),
          Buffer.from(shown, 'latin1'),
        ])
          for (const reading of asciiReadings(again)) expect(reading).not.toContain(digits);
      }),
      { numRuns: 500 },
    );
  });

  it('shows what people write', () => {
    const letters = 'etaoin shrdlu, .ÄéñΩ!?0123'.split('');
    let hidden = 0;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...letters), { minLength: 20, maxLength: 160 }), (characters) => {
        const text = characters.join('').replaceAll(/[0-9][ ,.]?[0-9]/g, '7');
        if (hideCodeDigits(text, 'in') !== text) hidden += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(hidden).toBeLessThan(10);
  });

  it('of an inbound message contains no code', () => {
    fc.assert(
      fc.property(words, code, words, (before, digits, after) => {
        const text = `${before.replaceAll(/auth/gi, '')} ${digits} ${after}`;
        expect(hideCodeDigits(text, 'in')).not.toContain(digits);
      }),
    );
  });
});
