import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withLimit, rateAt, initialRate, slowed, tokenTaken, waitMs, type SendRate } from './send-rate.js';

/** Takes every available token until `untilMs`, in steps of one millisecond; returns the times and the rate. */
function sendingUntil(start: SendRate, fromMs: number, untilMs: number): { sentMs: number[]; rate: SendRate } {
  const sentMs: number[] = [];
  let rate = start;
  for (let nowMs = fromMs; nowMs < untilMs; nowMs++) {
    for (let next = tokenTaken(rate, nowMs); next !== null; next = tokenTaken(rate, nowMs)) {
      rate = next;
      sentMs.push(nowMs);
    }
  }
  return { sentMs, rate };
}

describe('the send rate of a connection', () => {
  it.each([
    [0.5, 10, 5],
    [1, 10, 10],
    [50, 10, 500],
    [1_000, 2, 2_000],
  ])('of %d a second allows, in %d s, the product of both', (limit, seconds, messages) => {
    const { sentMs } = sendingUntil(initialRate(limit, 0), 0, seconds * 1_000);
    expect(Math.abs(sentMs.length - messages)).toBeLessThanOrEqual(Math.max(1, limit / 50));
  });

  it('accumulates no tokens during a pause', () => {
    const { sentMs } = sendingUntil(initialRate(50, 0), 60_000, 61_000);
    expect(sentMs.length).toBeLessThanOrEqual(51);
  });

  it('returns the time until the next token', () => {
    const rate = tokenTaken(initialRate(50, 0), 0);
    if (rate === null) throw new Error('no initial token');
    expect(tokenTaken(rate, 0)).toBe(null);
    expect(waitMs(rate, 0)).toBe(20);
    expect(waitMs(rate, 15)).toBe(5);
    expect(waitMs(rate, 20)).toBe(0);
  });
});

describe('a throttle response', () => {
  it('halves the rate each time', () => {
    const once = slowed(initialRate(40, 0), 0, 10);
    expect(once.perSecond).toBe(20);
    expect(slowed(once, 1_010, 1_030).perSecond).toBe(10);
  });

  it('halves the rate once per window and per second', () => {
    let rate = initialRate(40, 0);
    for (let answer = 0; answer < 10; answer++) rate = slowed(rate, 5, 10 + answer);
    for (let answer = 0; answer < 10; answer++) rate = slowed(rate, 100 * answer, 100 * answer + 10);
    expect(rate.perSecond).toBe(20);
  });

  it('leaves at least one message a second, or the agreed rate if lower', () => {
    let rate = initialRate(50, 0);
    for (let time = 1; time < 20; time++) rate = slowed(rate, time * 1_001, time * 1_001 + 1);
    expect(rate.perSecond).toBe(1);
    expect(slowed(initialRate(0.25, 0), 1, 2).perSecond).toBe(0.25);
  });

  it('is followed by increases of a tenth every five seconds without another, up to the agreed rate', () => {
    const rate = slowed(initialRate(50, 0), 0, 0.5);
    const perSecond = [4, 6, 11, 16, 21, 26, 31, 3_600].map((seconds) => rateAt(rate, seconds * 1_000).perSecond);
    expect(perSecond).toEqual([25, 30, 35, 40, 45, 50, 50, 50]);
    const again = slowed(rate, 0, 4_000);
    expect([8, 10].map((seconds) => rateAt(again, seconds * 1_000).perSecond)).toEqual([25, 30]);
  });

  it('keeps its proportion when the agreed rate changes', () => {
    const rate = slowed(initialRate(50, 0), 0, 1);
    expect(withLimit(rate, 100, 2)).toMatchObject({ limit: 100, perSecond: 50 });
    expect(withLimit(rate, 50, 2)).toBe(rate);
    expect(withLimit(initialRate(50, 0), 10, 2)).toMatchObject({ limit: 10, perSecond: 10, tokens: 1 });
  });
});

describe('after any sequence of events the send rate', () => {
  type Step = { readonly kind: 'send' | 'slow' | 'agree'; readonly afterMs: number; readonly value: number };
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('send', 'send', 'send', 'slow', 'agree'),
    afterMs: fc.integer({ min: 0, max: 7_000 }),
    value: fc.integer({ min: 1, max: 200 }),
  });

  function applied({ kind, value }: Step, rate: SendRate, nowMs: number): SendRate {
    if (kind === 'send') return tokenTaken(rate, nowMs) ?? rate;
    return kind === 'slow' ? slowed(rate, nowMs - value, nowMs) : withLimit(rate, value, nowMs);
  }

  it('stays between its floor and the agreed rate, and `waitMs` returns the time of the next token', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 200 }), (steps, limit) => {
        let [rate, nowMs] = [initialRate(limit, 0), 0];
        for (const each of steps) {
          nowMs += each.afterMs;
          rate = applied(each, rate, nowMs);
          expect(rate.perSecond).toBeGreaterThanOrEqual(Math.min(1, rate.limit));
          expect(rate.perSecond).toBeLessThanOrEqual(rate.limit);
          expect(rate.tokens).toBeGreaterThanOrEqual(0);
          const wait = waitMs(rate, nowMs);
          expect(wait).toBeLessThanOrEqual(1_000 / Math.min(1, rate.perSecond));
          expect(tokenTaken(rate, nowMs + wait + 0.001)).not.toBe(null);
        }
      }),
    );
  });

  it('allows in no second more than the agreed rate and the burst', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 300 });
    fc.assert(
      fc.property(pauses, fc.integer({ min: 1, max: 100 }), (waits, limit) => {
        let [rate, nowMs] = [initialRate(limit, 0), 0];
        const sentMs: number[] = [];
        for (const wait of waits) {
          nowMs += wait;
          const next = tokenTaken(rate, nowMs);
          if (next === null) continue;
          rate = next;
          sentMs.push(nowMs);
        }
        for (const fromMs of sentMs) {
          const within = sentMs.filter((ms) => ms >= fromMs && ms < fromMs + 1_000).length;
          expect(within).toBeLessThanOrEqual(limit + Math.max(1, limit / 50));
        }
      }),
    );
  });
});
