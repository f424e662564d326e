import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clockOffset, DatabaseClock } from './database-clock.js';
import { DatabaseUnavailable } from './database-errors.js';
import { idTimeMs } from '@countersign/ids';

describe('the offset of the database clock', () => {
  it('is that of the shortest round trip, read at its middle', () => {
    const samples = [
      { sentMs: 100, databaseMs: 5_090, receivedMs: 180 },
      { sentMs: 200, databaseMs: 5_101, receivedMs: 202 },
      { sentMs: 300, databaseMs: 5_230, receivedMs: 330 },
    ];
    expect(clockOffset(samples)).toBe(4_900);
  });

  it('needs a sample', () => {
    expect(() => clockOffset([])).toThrow(RangeError);
  });
});

describe('the clock', () => {
  /** A database whose clock is this much ahead of ours. */
  let aheadMs: number;
  let away: boolean;
  const database = {
    query: <Row extends object>(): Promise<Row[]> =>
      away
        ? Promise.reject(new DatabaseUnavailable('away'))
        : Promise.resolve([{ nowMs: Date.now() + aheadMs + 0.25 } as unknown as Row]),
  };

  beforeEach(() => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    aheadMs = 7_000;
    away = false;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("returns the database's time in whole milliseconds, and the drift of ours", async () => {
    const clock = await DatabaseClock.start(database, () => undefined);
    await vi.advanceTimersByTimeAsync(500);
    expect([clock.nowMs(), clock.driftMs]).toEqual([1_700_000_007_500, -7_000]);
    expect(idTimeMs(clock.newId())).toBe(1_700_000_007_500);
    await clock.stop();
  });

  it('ignores a jump of the local wall clock, and reports it as drift', async () => {
    const clock = await DatabaseClock.start(database, () => undefined);
    vi.setSystemTime(1_700_000_000_000 + 3_600_000);
    expect([clock.nowMs(), clock.driftMs]).toEqual([1_700_000_007_000, 3_593_000]);
    await clock.stop();
  });

  it('is read again every 10 s, and uses the last offset while the database is unavailable', async () => {
    const errors: unknown[] = [];
    const clock = await DatabaseClock.start(database, (error) => errors.push(error));
    aheadMs = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(clock.driftMs).toBe(0);
    away = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([clock.driftMs, errors.length]).toEqual([0, 1]);
    away = false;
    aheadMs = 50;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(clock.driftMs).toBe(-50);
    await clock.stop();
  });

  it('does not start without a reading', async () => {
    away = true;
    await expect(DatabaseClock.start(database, () => undefined)).rejects.toThrow(DatabaseUnavailable);
  });
});
