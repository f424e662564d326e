import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyedTokenBuckets } from './keyed-token-buckets.js';

const bucketsOf = (perSecond: number, burstSeconds = 1): KeyedTokenBuckets =>
  new KeyedTokenBuckets({ perSecond, burstSeconds, maxKeys: 10_000 });

/** The times at which tokens are taken as soon as there are some. */
function takenAt(buckets: KeyedTokenBuckets, key: string, count: number, fromMs = 0): number[] {
  let nowMs = fromMs;
  return Array.from({ length: count }, () => {
    nowMs += buckets.waitMs(key, nowMs);
    buckets.take(key, nowMs);
    return nowMs;
  });
}

describe('the token bucket of a key', () => {
  it('allows the burst at once, and then one token after the other', () => {
    expect(takenAt(bucketsOf(4), 'a', 7)).toEqual([0, 0, 0, 0, 250, 500, 750]);
    expect(takenAt(bucketsOf(2, 2), 'a', 6)).toEqual([0, 0, 0, 0, 500, 1_000]);
  });

  it('allows the burst again after a pause, and no more', () => {
    const buckets = bucketsOf(2);
    takenAt(buckets, 'a', 3);
    expect(takenAt(buckets, 'a', 3, 60_000)).toEqual([60_000, 60_000, 60_500]);
  });

  it('is independent of other keys', () => {
    const buckets = bucketsOf(1);
    takenAt(buckets, 'a', 3);
    expect(buckets.waitMs('b', 0)).toBe(0);
  });

  it('counts what is taken beyond the burst', () => {
    const buckets = bucketsOf(100, 2);
    for (let nth = 0; nth < 1_000; nth++) buckets.take('a', 0);
    expect([0, 8_000, 8_010].map((nowMs) => buckets.waitMs('a', nowMs))).toEqual([8_010, 10, 0]);
  });

  it('never allows more than twice the rate in any second, with a burst of one', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), pauses, (perSecond, waits) => {
        const buckets = bucketsOf(perSecond);
        const taken: number[] = [];
        let nowMs = 0;
        for (const pauseMs of waits) {
          nowMs += pauseMs + Math.ceil(buckets.waitMs('a', nowMs + pauseMs));
          buckets.take('a', nowMs);
          taken.push(nowMs);
        }
        for (const from of taken) {
          expect(taken.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(2 * perSecond);
        }
      }),
    );
  });

  it('is remembered for the most recent keys', () => {
    const buckets = bucketsOf(1);
    for (let key = 0; key < 25_000; key++) buckets.take(`key-${key}`, 0);
    const waits = ['key-24999', 'key-15000', 'key-14999'].map((key) => buckets.waitMs(key, 0));
    expect(waits).toEqual([1_000, 1_000, 0]);
  });
});
