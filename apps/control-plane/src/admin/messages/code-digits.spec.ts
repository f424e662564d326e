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

  it('of an inbound message contains no code', () => {
    fc.assert(
      fc.property(words, code, words, (before, digits, after) => {
        const text = `${before.replaceAll(/auth/gi, '')} ${digits} ${after}`;
        expect(hideCodeDigits(text, 'in')).not.toContain(digits);
      }),
    );
  });
});
