import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageRate, shareOfRate } from './message-rate.js';

function taken(rate: MessageRate, nowMs: number, asked: number): number {
  let count = 0;
  for (let n = 0; n < asked; n++) if (rate.takeToken(nowMs)) count += 1;
  return count;
}

describe('the rate of a system', () => {
  it('lets a second of messages come at once, and then as many as the time that passed', () => {
    const rate = new MessageRate(10, 0);
    expect(taken(rate, 0, 50)).toBe(10);
    expect(taken(rate, 300, 50)).toBe(3);
    expect(taken(rate, 350, 50)).toBe(0);
    expect(taken(rate, 400, 50)).toBe(1);
    expect(taken(rate, 60_000, 50)).toBe(10);
  });

  it('has no limit unless one is set, and follows what is set', () => {
    const rate = new MessageRate(Infinity, 0);
    expect(taken(rate, 0, 1_000)).toBe(1_000);
    rate.setLimit(5, 0);
    expect(taken(rate, 0, 1_000)).toBe(5);
    rate.setLimit(20, 1_000);
    expect(taken(rate, 1_000, 1_000)).toBe(5);
    rate.setLimit(Infinity, 1_000);
    expect(taken(rate, 1_000, 1_000)).toBe(1_000);
  });

  it('is never exceeded by more than the second that was saved up', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 100 })));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), steps, (perSecond, all) => {
        const rate = new MessageRate(perSecond, 0);
        let nowMs = 0;
        let count = 0;
        for (const [laterMs, asked] of all) {
          nowMs += laterMs;
          count += taken(rate, nowMs, asked);
          expect(count).toBeLessThanOrEqual(perSecond * (1 + nowMs / 1_000) + 1e-6);
        }
      }),
    );
  });
});

describe('the share of a gateway', () => {
  it.each([
    [100, 1, 0, 100],
    [100, 1, 1, 50],
    [100, 1, 3, 25],
    [100, 3, 1, 75],
    [null, 1, 3, Infinity],
  ])('of %s a second with %s connections here and %s elsewhere is %s', (perSecond, here, elsewhere, share) => {
    expect(shareOfRate(perSecond, here, elsewhere)).toBe(share);
  });
});
