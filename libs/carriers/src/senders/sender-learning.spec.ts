import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  learnFrom,
  senderRuleOf,
  SENDERS_TO_LEARN,
  type SenderEvidenceRow,
  type ShownSender,
} from './sender-learning.js';

const NOTHING: SenderEvidenceRow = { learned: null, reading: null, digests: [] };
const MIXED: SenderEvidenceRow = { learned: 'mixed', reading: null, digests: [] };

const senders = (count: number, shows: 'international' | 'national', from = 0): ShownSender[] =>
  Array.from({ length: count }, (_, at) => ({ digest: `${from + at}`, shows }));

describe('the evidence of a link', () => {
  it('gives a format once 20 different senders agree, and not before', () => {
    const nearly = learnFrom(NOTHING, senders(19, 'national'));
    expect(nearly).toMatchObject({ learned: null, reading: 'national' });
    expect(nearly.digests).toHaveLength(19);
    expect(learnFrom(nearly, senders(1, 'national', 19))).toEqual({ learned: 'national', reading: null, digests: [] });
  });

  it('gives nothing for one number that sends a hundred times', () => {
    const same = Array.from({ length: 100 }, () => ({ digest: 'same', shows: 'international' }) as const);
    expect(learnFrom(NOTHING, same)).toEqual({ learned: null, reading: 'international', digests: ['same'] });
  });

  it('is mixed when one sender contradicts the others, however many agree before and after', () => {
    const contrary = learnFrom(learnFrom(NOTHING, senders(19, 'national')), senders(1, 'international', 50));
    expect(contrary).toEqual(MIXED);
    expect(learnFrom(contrary, senders(100, 'national'))).toEqual(MIXED);
  });

  it('becomes mixed when one sender contradicts the learned format', () => {
    const learned = learnFrom(NOTHING, senders(20, 'international'));
    expect(learnFrom(learned, senders(5, 'international', 90))).toBe(learned);
    expect(learnFrom(learned, [{ digest: '', shows: 'national' }])).toEqual(MIXED);
  });

  it('gives a format only without contradiction, in any batches, and is bounded', () => {
    const shown = fc.record({
      digest: fc.integer({ min: 0, max: 40 }).map(String),
      shows: fc.constantFrom('international' as const, 'national' as const),
    });
    const oneWay = fc.constantFrom('international' as const, 'national' as const).chain((shows) =>
      fc.array(fc.record({ digest: fc.integer({ min: 0, max: 40 }).map(String), shows: fc.constant(shows) }), {
        maxLength: 60,
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(shown), oneWay), fc.nat(60), (all, cut) => {
        const whole = learnFrom(NOTHING, all);
        expect(learnFrom(learnFrom(NOTHING, all.slice(0, cut)), all.slice(cut))).toEqual(whole);
        const readings = new Set(all.map(({ shows }) => shows));
        const different = new Set(all.map(({ digest }) => digest)).size;
        const agreed = different >= SENDERS_TO_LEARN ? (all[0]?.shows ?? null) : null;
        expect(whole.learned).toBe(readings.size > 1 ? 'mixed' : agreed);
        expect(whole.digests.length).toBeLessThan(SENDERS_TO_LEARN);
      }),
    );
  });
});

describe('the rule for parsing senders', () => {
  it('uses the learned format in auto only, and nothing for mixed', () => {
    expect(senderRuleOf('auto', null)).toEqual({ format: 'auto', learned: null });
    expect(senderRuleOf('auto', 'national')).toEqual({ format: 'auto', learned: 'national' });
    expect(senderRuleOf('auto', 'mixed')).toEqual({ format: 'auto', learned: null });
    expect(senderRuleOf('international', 'national')).toEqual({ format: 'international', learned: null });
  });
});
