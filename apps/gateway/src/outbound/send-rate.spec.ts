import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SendRate } from './send-rate.js';

/** Takes every available token until `untilMs`, in steps of one millisecond; returns the times. */
function sentUntil(rate: SendRate, fromMs: number, untilMs: number): number[] {
  const sentMs: number[] = [];
  for (let nowMs = fromMs; nowMs < untilMs; nowMs++) while (rate.takeToken(nowMs)) sentMs.push(nowMs);
  return sentMs;
}

/** A rate that was halved at this time. */
function slowedAt(limit: number, nowMs: number): SendRate {
  const rate = new SendRate(limit, 0);
  rate.slow(0, nowMs);
  return rate;
}

describe('the send rate of a connection', () => {
  it.each([
    [0.5, 10, 5],
    [1, 10, 10],
    [50, 10, 500],
    [1_000, 2, 2_000],
  ])('of %d a second allows, in %d s, the product of both', (limit, seconds, messages) => {
    const sentMs = sentUntil(new SendRate(limit, 0), 0, seconds * 1_000);
    expect(Math.abs(sentMs.length - messages)).toBeLessThanOrEqual(Math.max(1, limit / 50));
  });

  it('accumulates no tokens during a pause', () => {
    expect(sentUntil(new SendRate(50, 0), 60_000, 61_000).length).toBeLessThanOrEqual(51);
  });

  it('returns the time until the next token', () => {
    const rate = new SendRate(50, 0);
    expect([rate.takeToken(0), rate.takeToken(0)]).toEqual([true, false]);
    expect([0, 15, 20].map((nowMs) => rate.waitMs(nowMs))).toEqual([20, 5, 0]);
  });
});

describe('a throttle response', () => {
  it('halves the rate each time', () => {
    const rate = slowedAt(40, 10);
    expect([rate.perSecond(10), rate.isReduced(10)]).toEqual([20, true]);
    rate.slow(1_010, 1_030);
    expect(rate.perSecond(1_030)).toBe(10);
  });

  it('leaves no token', () => {
    const rate = new SendRate(40, 0);
    rate.slow(0, 1_000);
    expect(rate.waitMs(1_000)).toBe(50);
  });

  it('halves the rate once per window and per second', () => {
    const rate = new SendRate(40, 0);
    for (let answer = 0; answer < 10; answer++) rate.slow(5, 10 + answer);
    for (let answer = 0; answer < 10; answer++) rate.slow(100 * answer, 100 * answer + 10);
    expect(rate.perSecond(910)).toBe(20);
  });

  it('leaves at least one message a second, or the agreed rate if lower', () => {
    const rate = new SendRate(50, 0);
    for (let time = 1; time < 20; time++) rate.slow(time * 1_001, time * 1_001 + 1);
    expect(rate.perSecond(19 * 1_001 + 1)).toBe(1);
    const low = new SendRate(0.25, 0);
    low.slow(1, 2);
    expect(low.perSecond(2)).toBe(0.25);
  });

  it('is followed by increases of a tenth every five seconds without another, up to the agreed rate', () => {
    const rate = slowedAt(50, 0.5);
    const perSecond = [4, 6, 11, 16, 21, 26, 31, 3_600].map((seconds) => rate.perSecond(seconds * 1_000));
    expect(perSecond).toEqual([25, 30, 35, 40, 45, 50, 50, 50]);
    expect(rate.isReduced(3_600_000)).toBe(false);
    const again = slowedAt(50, 0.5);
    again.slow(0, 4_000);
    expect([8, 10].map((seconds) => again.perSecond(seconds * 1_000))).toEqual([25, 30]);
  });

  it('keeps its proportion when the agreed rate changes', () => {
    const rate = slowedAt(50, 1);
    rate.setLimit(100, 2);
    expect(rate.perSecond(2)).toBe(50);
    rate.setLimit(100, 3);
    expect(rate.perSecond(3)).toBe(50);
    const full = new SendRate(5_000, 0);
    full.setLimit(10, 1_000);
    expect([full.perSecond(1_000), full.isReduced(1_000)]).toEqual([10, false]);
    expect([full.takeToken(1_000), full.takeToken(1_000)]).toEqual([true, false]);
  });
});

describe('after any sequence of events the send rate', () => {
  type Step = { readonly kind: 'send' | 'slow' | 'agree'; readonly afterMs: number; readonly value: number };
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('send', 'send', 'send', 'slow', 'agree'),
    afterMs: fc.integer({ min: 0, max: 7_000 }),
    value: fc.integer({ min: 1, max: 200 }),
  });

  function apply({ kind, value }: Step, rate: SendRate, nowMs: number): void {
    if (kind === 'send') rate.takeToken(nowMs);
    else if (kind === 'slow') rate.slow(nowMs - value, nowMs);
    else rate.setLimit(value, nowMs);
  }

  it('stays between its floor and the agreed rate, and `waitMs` returns the time of the next token', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 200 }), (steps, first) => {
        const rate = new SendRate(first, 0);
        let [limit, nowMs] = [first, 0];
        for (const each of steps) {
          nowMs += each.afterMs;
          apply(each, rate, nowMs);
          if (each.kind === 'agree') limit = each.value;
          expect(rate.perSecond(nowMs)).toBeGreaterThanOrEqual(1);
          expect(rate.perSecond(nowMs)).toBeLessThanOrEqual(limit);
          expect(rate.waitMs(nowMs)).toBeLessThanOrEqual(1_000 / rate.perSecond(nowMs) + 1e-6);
        }
        expect(rate.takeToken(nowMs + rate.waitMs(nowMs) + 0.001)).toBe(true);
      }),
    );
  });

  it('allows in no second more than the agreed rate and the burst', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 300 });
    fc.assert(
      fc.property(pauses, fc.integer({ min: 1, max: 100 }), (waits, limit) => {
        const rate = new SendRate(limit, 0);
        let nowMs = 0;
        const sentMs: number[] = [];
        for (const wait of waits) {
          nowMs += wait;
          if (rate.takeToken(nowMs)) sentMs.push(nowMs);
        }
        for (const fromMs of sentMs) {
          const within = sentMs.filter((ms) => ms >= fromMs && ms < fromMs + 1_000).length;
          expect(within).toBeLessThanOrEqual(limit + Math.max(1, limit / 50));
        }
      }),
    );
  });
});
