import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Timers } from './timers.js';

describe('timers', () => {
  const rung: number[] = [];
  let alarms: Timers;

  beforeEach(() => {
    vi.useFakeTimers();
    rung.length = 0;
    alarms = new Timers(() => void rung.push(performance.now()));
  });
  afterEach(() => {
    alarms.clear();
    vi.useRealTimers();
  });

  it('fire in time; an earlier one does not replace a later one', () => {
    const startMs = performance.now();
    for (const ms of [2_000, 500, 1_000]) alarms.fireIn(ms);
    vi.advanceTimersByTime(3_000);
    expect(rung).toHaveLength(3);
    [500, 1_000, 2_000].forEach((ms, index) => {
      expect((rung[index] ?? 0) - startMs).toBeGreaterThanOrEqual(ms);
      expect((rung[index] ?? 0) - startMs).toBeLessThan(ms + 100);
    });
  });

  it('share one callback if due at the same time', () => {
    for (let count = 0; count < 1_000; count++) alarms.fireIn(500);
    vi.advanceTimersByTime(3_000);
    expect(rung).toHaveLength(1);
  });

  it('do not fire after they are cleared', () => {
    alarms.fireIn(500);
    alarms.clear();
    vi.advanceTimersByTime(3_000);
    expect(rung).toEqual([]);
  });
});
