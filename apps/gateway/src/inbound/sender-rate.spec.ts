import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SenderRate } from './sender-rate.js';

const accepted = (rate: SenderRate, count: number, source: string, nowMs: number, link = 'l'): number =>
  Array.from({ length: count }, () => rate.takeToken(link, source, nowMs)).filter(Boolean).length;

describe('the rate of one sender', () => {
  it('allows a burst of two seconds, then messages at the rate', () => {
    const rate = new SenderRate(10);
    expect(accepted(rate, 100, 'a', 0)).toBe(20);
    expect(accepted(rate, 100, 'a', 100)).toBe(1);
    expect(accepted(rate, 100, 'a', 1_100)).toBe(10);
    expect(accepted(rate, 100, 'a', 60_000)).toBe(20);
  });

  it('applies to a sender on a link, separately from others', () => {
    const rate = new SenderRate(1);
    expect(accepted(rate, 100, 'a', 0)).toBe(2);
    expect(accepted(rate, 100, 'b', 0)).toBe(2);
    expect(accepted(rate, 100, 'a', 0, 'other')).toBe(2);
  });

  it('has no limit at 0', () => {
    expect(accepted(new SenderRate(0), 10_000, 'a', 0)).toBe(10_000);
  });

  it('tracks a limited number of senders, the latest', () => {
    const rate = new SenderRate(1, 4);
    for (const source of ['a', 'b', 'c', 'd', 'e', 'f']) accepted(rate, 2, source, 0);
    expect(accepted(rate, 2, 'f', 0)).toBe(0);
    expect(accepted(rate, 2, 'a', 0)).toBe(2);
  });

  it('never allows more than burst and rate in any time', () => {
    const steps = fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 50 }), (waits, perSecond) => {
        const rate = new SenderRate(perSecond);
        let [nowMs, passed] = [0, 0];
        for (const waitMs of waits) {
          nowMs += waitMs;
          passed += Number(rate.takeToken('l', 'a', nowMs));
        }
        expect(passed).toBeLessThanOrEqual((nowMs / 1_000) * perSecond + 2 * perSecond + 1e-6);
      }),
    );
  });
});
