import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseUnavailable } from './database-errors.js';
import { ReportReads } from './report-reads.js';

/** A database whose statements the test ends one by one. */
function fake(poolMax: number) {
  const running: ((error?: Error) => void)[] = [];
  const run = (): Promise<never[]> =>
    new Promise((resolve, reject) => {
      running.push((error) => (error === undefined ? resolve([]) : reject(error)));
    });
  const reports = new ReportReads({ query: run, transaction: run as () => Promise<never> }, poolMax);
  return { running, reports };
}

describe('statements of reports', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    [10, 3],
    [20, 6],
    [2, 1],
  ])('of a pool of %i run %i at a time, the others in their order', async (poolMax, most) => {
    const { running, reports } = fake(poolMax);
    const ended: number[] = [];
    const all = Array.from({ length: most + 2 }, (_, nth) =>
      (nth % 2 === 0 ? reports.query('') : reports.transaction(() => Promise.resolve())).then(() => ended.push(nth)),
    );
    expect(running).toHaveLength(most);
    for (let nth = 0; nth < most + 2; nth += 1) {
      running[nth]?.();
      await vi.advanceTimersByTimeAsync(0);
      expect(running).toHaveLength(Math.min(most + 2, most + nth + 1));
    }
    await Promise.all(all);
    expect(ended).toEqual(Array.from({ length: most + 2 }, (_, nth) => nth));
  });

  it('give their turn to the next one when they fail', async () => {
    const { running, reports } = fake(2);
    const failing = reports.query('');
    const next = reports.query('');
    running[0]?.(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    running[1]?.();
    expect(await next).toEqual([]);
  });

  it('are refused as unavailable when they have waited for two seconds, or when too many wait', async () => {
    const { running, reports } = fake(2);
    const first = reports.query('');
    const waiting = Array.from({ length: 256 }, () => reports.query('').catch((error: unknown) => error));
    await expect(reports.query('')).rejects.toThrow(DatabaseUnavailable);
    await vi.advanceTimersByTimeAsync(2_000);
    for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(DatabaseUnavailable);
    running[0]?.();
    await first;
    const later = reports.query('');
    running[1]?.();
    expect(await later).toEqual([]);
    expect(running).toHaveLength(2);
  });
});
