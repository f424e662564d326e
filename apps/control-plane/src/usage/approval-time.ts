/** The first bound of the histogram of times to approve. */
const FIRST_BOUND_MS = 100;
const BOUNDS_PER_OCTAVE = 4;
/** Up to 410 s: no session lives longer than 300 s. */
const BOUNDS = 49;

/**
 * Bounds of the buckets of times from creation to approval, in milliseconds: each is 2^(1/4) times the one before. Bucket n
 * has the times from bound n - 1 (inclusive) up to bound n; bucket 0 has the shorter ones.
 */
export const TIME_BOUNDS_MS: readonly number[] = Array.from(
  { length: BOUNDS },
  (_, at) => FIRST_BOUND_MS * 2 ** (at / BOUNDS_PER_OCTAVE),
);

/** Count of approvals by bucket. */
export type TimeHistogram = ReadonlyMap<number, number>;

/**
 * A quantile of the times, in whole milliseconds: the geometric mean of the bounds of its bucket, which is at most 9.1 %
 * from the exact quantile of times between 100 ms and 410 s (2^(1/8) = 1.0905). Null without approvals.
 *
 * @param quantile from 0 (exclusive) to 1
 */
export function timeQuantileMs(histogram: TimeHistogram, quantile: number): number | null {
  const buckets = [...histogram].filter(([, count]) => count > 0).sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let before = 0;
  for (const [bucket, count] of buckets) {
    before += count;
    if (before >= quantile * total) return middleMs(bucket);
  }
  return null;
}

function middleMs(bucket: number): number {
  const low = TIME_BOUNDS_MS[bucket - 1] ?? FIRST_BOUND_MS / 2;
  const high = TIME_BOUNDS_MS[bucket] ?? low * 2 ** (1 / BOUNDS_PER_OCTAVE);
  return Math.round(Math.sqrt(low * high));
}
