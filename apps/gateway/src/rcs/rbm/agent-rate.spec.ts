import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CARDS_PER_SECOND, initialRate, halveRate, takeToken, type AgentRate } from './agent-rate.js';

/** The number of cards that may be sent at this time. */
function tokensAt(rate: AgentRate, nowMs: number): number {
  let tokens = 0;
  for (let current = takeToken(rate, nowMs); current !== null; current = takeToken(current, nowMs)) tokens += 1;
  return tokens;
}

function emptied(rate: AgentRate, nowMs: number): AgentRate {
  let current = rate;
  for (let next = takeToken(current, nowMs); next !== null; next = takeToken(current, nowMs)) current = next;
  return current;
}

describe('the rate of an agent', () => {
  it('admits a second’s worth at once, and then as many as are refilled', () => {
    expect(tokensAt(initialRate(0), 0)).toBe(CARDS_PER_SECOND);
    const empty = emptied(initialRate(0), 0);
    expect(tokensAt(empty, 0)).toBe(0);
    expect(tokensAt(empty, 100)).toBe(100);
    expect(tokensAt(empty, 10_000)).toBe(CARDS_PER_SECOND);
  });

  it('is halved when the platform throttles, at most once a second', () => {
    const once = halveRate(initialRate(0), 0);
    expect(once.perSecond).toBe(500);
    expect(halveRate(once, 999).perSecond).toBeGreaterThanOrEqual(500);
    expect(halveRate(once, 1_000).perSecond).toBe(260);
    expect(tokensAt(once, 0)).toBe(500);
  });

  it('recovers by a fiftieth of the maximum per second', () => {
    const slow = emptied(halveRate(initialRate(0), 0), 0);
    expect(takeToken(slow, 10_000)?.perSecond).toBe(700);
    expect(takeToken(slow, 60_000)?.perSecond).toBe(1_000);
  });

  it('never falls to zero, and never admits more than a second’s worth at once', () => {
    const step = fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        let [rate, nowMs] = [initialRate(0), 0];
        for (const [waitMs, isThrottle] of steps) {
          nowMs += waitMs;
          rate = isThrottle ? halveRate(rate, nowMs) : (takeToken(rate, nowMs) ?? rate);
          expect(rate.perSecond).toBeGreaterThanOrEqual(1);
          expect(rate.tokens).toBeLessThanOrEqual(CARDS_PER_SECOND);
        }
        expect(takeToken(rate, nowMs + 1_000)).not.toBeNull();
      }),
    );
  });
});
