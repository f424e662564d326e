import { describe, expect, it } from 'vitest';
import { agree, median, quantile, spreadOf } from './statistics.js';

describe('median', () => {
  it('is the middle value, or the mean of the two in the middle', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it('leaves the order of its input alone', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('quantile', () => {
  it('takes a value that occurs', () => {
    const sorted = Array.from({ length: 100 }, (_, at) => at + 1);
    expect(quantile(sorted, 0.5)).toBe(51);
    expect(quantile(sorted, 0.99)).toBe(100);
    expect(quantile([], 0.5)).toBe(0);
  });
});

describe('spreadOf', () => {
  it('interpolates quartiles between ranks', () => {
    expect(spreadOf([5, 1, 3, 2, 4])).toMatchObject({ median: 3, lowerQuartile: 2, upperQuartile: 4 });
    expect(spreadOf([1, 2])).toMatchObject({ median: 1.5, lowerQuartile: 1.25, upperQuartile: 1.75 });
    expect(spreadOf([]).median).toBeNaN();
  });

  // Ranks as in tables of the sign test at 95 %.
  it.each([
    [0, null],
    [1, null],
    [5, null],
    [6, { low: 1, high: 6 }],
    [8, { low: 1, high: 8 }],
    [9, { low: 2, high: 8 }],
    [10, { low: 2, high: 9 }],
    [20, { low: 6, high: 15 }],
    [30, { low: 10, high: 21 }],
  ])('finds the 95 %% interval of the median of %i values', (count, interval) => {
    const values = Array.from({ length: count }, (_, at) => count - at);
    expect(spreadOf(values).interval).toEqual(interval);
  });
});

describe('agree', () => {
  it('compares with the larger of both, in either order', () => {
    expect(agree(90, 100, 0.1)).toBe(true);
    expect(agree(100, 90, 0.1)).toBe(true);
    expect(agree(89, 100, 0.1)).toBe(false);
    expect(agree(0, 0, 0.1)).toBe(true);
  });
});
