import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundsOf } from './rounds.js';

const rounds = (...evidence: string[]): string[][] => roundsOf(evidence, (each) => [...each]);

describe('rounds', () => {
  it('puts evidence without a common token in one round', () => {
    expect(rounds('a', 'b', '', 'c')).toEqual([['a', 'b', '', 'c']]);
  });

  it('puts the second message with a token after the first', () => {
    expect(rounds('a', 'ab', 'b', 'c')).toEqual([['a', 'c'], ['ab'], ['b']]);
  });

  it('keeps everything, every token once per round, equal tokens in order of arrival', () => {
    const message = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }).map((keys) => keys.join(''));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (texts) => {
        const messages = texts.map((text, order) => ({ text, order }));
        const result = roundsOf(messages, ({ text }) => [...text]);
        expect(result.flat().length).toBe(messages.length);
        for (const round of result) {
          const keys = round.flatMap(({ text }) => [...text]);
          expect(new Set(keys).size).toBe(keys.length);
        }
        for (const key of 'abcd') {
          const orders = result.flat().filter(({ text }) => text.includes(key)).map(({ order }) => order);
          expect(orders).toEqual([...orders].sort((a, b) => a - b));
        }
      }),
    );
  });
});
