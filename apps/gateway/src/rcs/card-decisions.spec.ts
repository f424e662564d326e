import type { CardTap } from '@countersign/cards';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOfOneVerdict } from './card-decisions.js';

const tap = (cardId: string, verdict: CardTap['verdict']): CardTap => ({
  cardId,
  eventId: `event of ${cardId}`,
  phone: '+14155552671',
  verdict,
});

describe('taps of one transaction', () => {
  it('are decided in the order of their ids, neighbours with one verdict together', () => {
    const taps = [tap('d', 'deny'), tap('a', 'approve'), tap('c', 'deny'), tap('b', 'approve'), tap('e', 'approve')];
    expect(runsOfOneVerdict(taps).map((run) => run.map(({ cardId }) => cardId).join(''))).toEqual(['ab', 'cd', 'e']);
  });

  it('are all decided, each once, in runs that differ from their neighbours', () => {
    const verdicts = fc.array(fc.constantFrom<CardTap['verdict']>('approve', 'deny'), { maxLength: 30 });
    fc.assert(
      fc.property(verdicts, fc.nat(), (all, seed) => {
        const taps = all.map((verdict, at) => tap(String((at * 7_919 + seed) % 100_003).padStart(6, '0'), verdict));
        const runs = runsOfOneVerdict(taps);
        expect(runs.flat()).toEqual([...taps].sort((one, other) => (one.cardId < other.cardId ? -1 : 1)));
        runs.forEach((run, at) => {
          expect(new Set(run.map(({ verdict }) => verdict)).size).toBe(1);
          expect(run[0]?.verdict).not.toBe(runs[at + 1]?.[0]?.verdict);
        });
      }),
    );
  });
});
