/** The quantile of sorted values at that share, between 0 and 1; rounded to hundredths, 0 without values. */
export const quantile = (sorted: readonly number[], share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100;

export const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** The middle value, or the mean of the two in the middle; NaN without values. */
export const median = (values: readonly number[]): number => interpolated(ascending(values), 0.5);

/** Linear interpolation between the two nearest ranks. */
function interpolated(sorted: readonly number[], share: number): number {
  const rank = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (rank - Math.floor(rank));
}

export interface Spread {
  readonly median: number;
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
  /** Null for fewer than six values. */
  readonly interval: Interval | null;
}

/** Where the median of the population lies with a confidence of at least 95 %. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

const TAIL = 0.025;

/**
 * The interval between two order statistics, which assumes nothing of the distribution but that the values are independent:
 * of n values, fewer than k lie below the median with the probability of fewer than k heads in n tosses of a coin.
 */
function intervalOf(sorted: readonly number[]): Interval | null {
  const count = sorted.length;
  let [below, probability, tail] = [0, 0.5 ** count, 0.5 ** count];
  while (tail <= TAIL && below < count / 2) {
    below += 1;
    probability *= (count - below + 1) / below;
    tail += probability;
  }
  const [low, high] = [sorted[below - 1], sorted[count - below]];
  return low === undefined || high === undefined ? null : { low, high };
}

/** All NaN without values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = ascending(values);
  return {
    median: interpolated(sorted, 0.5),
    lowerQuartile: interpolated(sorted, 0.25),
    upperQuartile: interpolated(sorted, 0.75),
    interval: intervalOf(sorted),
  };
}

/** Whether the smaller is at most that share below the larger. */
export const agree = (one: number, other: number, share: number): boolean =>
  Math.abs(one - other) <= share * Math.max(one, other);
