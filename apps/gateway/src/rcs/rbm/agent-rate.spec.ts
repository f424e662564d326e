import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentRate, CARDS_PER_SECOND } from './agent-rate.js';

/** Takes all tokens of this time, and returns their number. */
function takeAll(rate: AgentRate, nowMs: number): number {
  let tokens = 0;
  while (rate.takeToken(nowMs)) tokens += 1;
  return tokens;
}

describe('the rate of an agent', () => {
  it('admits a second’s worth at once, and then as many as are refilled', () => {
    const rate = new AgentRate(0);
    expect(rate.hasToken(0)).toBe(true);
    expect(takeAll(rate, 0)).toBe(CARDS_PER_SECOND);
    expect(rate.hasToken(0)).toBe(false);
    expect(takeAll(rate, 100)).toBe(100);
    expect(takeAll(rate, 10_000)).toBe(CARDS_PER_SECOND);
  });

  it('is halved when the platform throttles, at most once a second', () => {
    const rate = new AgentRate(0);
    rate.halve(0);
    expect(rate.perSecond(0)).toBe(500);
    rate.halve(999);
    expect(rate.perSecond(999)).toBeGreaterThanOrEqual(500);
    rate.halve(1_000);
    expect(rate.perSecond(1_000)).toBeCloseTo(260, 9);
    const full = new AgentRate(0);
    full.halve(0);
    expect(takeAll(full, 0)).toBe(500);
  });

  it('recovers by a fiftieth of the maximum per second', () => {
    const rate = new AgentRate(0);
    rate.halve(0);
    takeAll(rate, 0);
    expect(rate.perSecond(10_000)).toBe(700);
    expect(rate.perSecond(60_000)).toBe(1_000);
  });

  it('refills at the rate before the recovery, up to a second’s worth of the recovered rate', () => {
    const rate = new AgentRate(0);
    rate.halve(0);
    takeAll(rate, 0);
    expect(takeAll(rate, 500)).toBe(250);
    expect(takeAll(rate, 10_500)).toBe(710);
  });

  it('never falls to zero, and never admits more than a second’s worth at once', () => {
    const step = fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const rate = new AgentRate(0);
        let nowMs = 0;
        for (const [waitMs, isThrottle] of steps) {
          nowMs += waitMs;
          if (isThrottle) rate.halve(nowMs);
          else rate.takeToken(nowMs);
          expect(rate.perSecond(nowMs)).toBeGreaterThanOrEqual(1);
        }
        expect(takeAll(rate, nowMs)).toBeLessThanOrEqual(CARDS_PER_SECOND);
        expect(rate.takeToken(nowMs + 1_000)).toBe(true);
      }),
    );
  });
});
