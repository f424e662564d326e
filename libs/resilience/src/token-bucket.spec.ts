import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.js';

/** The number of tokens that can be taken at this time, at most 1,000. */
function takenAt(bucket: TokenBucket, nowMs: number): number {
  let count = 0;
  while (count < 1_000 && bucket.take(nowMs)) count += 1;
  return count;
}

describe('a token bucket', () => {
  it('is full at the start unless told otherwise, and fills at its rate up to its capacity', () => {
    const bucket = new TokenBucket({ perSecond: 10, capacity: 4 }, 0);
    expect([0, 0, 100, 350, 10_000].map((nowMs) => takenAt(bucket, nowMs))).toEqual([4, 0, 1, 2, 4]);
    expect(takenAt(new TokenBucket({ perSecond: 10, capacity: 4, tokens: 1 }, 0), 0)).toBe(1);
  });

  it('returns the time until the next token', () => {
    const bucket = new TokenBucket({ perSecond: 50, capacity: 1 }, 0);
    expect(bucket.waitMs(0)).toBe(0);
    bucket.take(0);
    expect([0, 15, 20].map((nowMs) => bucket.waitMs(nowMs))).toEqual([20, 5, 0]);
  });

  it('fills at a new rate only from its change on', () => {
    const bucket = new TokenBucket({ perSecond: 1, capacity: 10, tokens: 0 }, 0);
    bucket.setRate(5, 2_000);
    expect(takenAt(bucket, 2_000)).toBe(2);
    expect(takenAt(bucket, 3_000)).toBe(5);
  });

  it('loses tokens above a smaller capacity, and all when it is emptied', () => {
    const bucket = new TokenBucket({ perSecond: 1, capacity: 10 }, 0);
    bucket.setCapacity(3);
    expect(takenAt(bucket, 0)).toBe(3);
    bucket.setCapacity(10);
    expect(takenAt(bucket, 60_000)).toBe(10);
    const emptied = new TokenBucket({ perSecond: 1, capacity: 10 }, 0);
    emptied.empty();
    expect(takenAt(emptied, 999)).toBe(0);
  });

  it('allows at most the capacity and the rate in any time', () => {
    const waits = fc.array(fc.nat({ max: 500 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 50 }),
        waits,
        (perSecond, capacity, all) => {
          const bucket = new TokenBucket({ perSecond, capacity }, 0);
          let [nowMs, taken] = [0, 0];
          for (const waitMs of all) {
            nowMs += waitMs;
            taken += takenAt(bucket, nowMs);
            expect(taken).toBeLessThanOrEqual(capacity + (nowMs * perSecond) / 1_000 + 1e-6);
          }
        },
      ),
    );
  });
});
