import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Measure } from './report.js';
import { costOf, warmUp } from './warm-up.js';

const measure = (perSecond: number): Measure => ({ perSecond, p50Ms: 0, p99Ms: 0, errors: 0 });

/** The progress of the bench. */
beforeAll(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
afterAll(() => vi.restoreAllMocks());

/** Returns the rates one after the other, then repeats the last one. */
const loadAt = (rates: readonly number[]): (() => Promise<Measure>) => {
  let runs = 0;
  return () => {
    runs += 1;
    return Promise.resolve(measure(rates[Math.min(runs, rates.length) - 1] ?? 0));
  };
};

it('stops at the second of two consecutive runs that agree within 10 %', async () => {
  expect(await warmUp('load', loadAt([100, 150, 200, 210, 400]))).toBe(4);
});

it('gives up after 8 runs that never agree', async () => {
  expect(await warmUp('load', loadAt([100, 200, 100, 200, 100, 200, 100, 200, 200]))).toBe(8);
});

it('judges by CPU time per operation where that was measured', () => {
  const cpu = { operations: 10, micros: { gateway: 1_000, PostgreSQL: 500, 'load generator': 9_000 } };
  expect(costOf({ ...measure(1_000), cpu })).toBe(150);
  expect(costOf(measure(1_000))).toBe(1_000);
});
