import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TIME_BOUNDS_MS, timeQuantileMs } from './approval-time.js';

/** The bucket of a time, as width_bucket of PostgreSQL. */
const bucketOf = (ms: number): number => TIME_BOUNDS_MS.filter((bound) => bound <= ms).length;

function histogramOf(times: readonly number[]): Map<number, number> {
  const histogram = new Map<number, number>();
  for (const ms of times) histogram.set(bucketOf(ms), (histogram.get(bucketOf(ms)) ?? 0) + 1);
  return histogram;
}

describe('a quantile of times to approve', () => {
  it('is at most 9.1 % from the exact one', () => {
    const times = fc.array(fc.integer({ min: 100, max: 300_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(times, fc.constantFrom(0.5, 0.95, 1), (sample, quantile) => {
        const sorted = [...sample].sort((one, other) => one - other);
        const exact = sorted[Math.ceil(quantile * sorted.length) - 1] ?? Number.NaN;
        const found = timeQuantileMs(histogramOf(sample), quantile) ?? Number.NaN;
        expect(Math.abs(found / exact - 1)).toBeLessThan(0.0951);
      }),
    );
  });

  it('is null without approvals, and within the outer buckets for all other times', () => {
    expect(timeQuantileMs(new Map([[3, 0]]), 0.5)).toBeNull();
    expect(timeQuantileMs(new Map([[0, 1]]), 0.5)).toBe(71);
    expect(timeQuantileMs(new Map([[TIME_BOUNDS_MS.length, 1]]), 0.5)).toBeGreaterThan(300_000);
  });
});
