import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Timers } from './timers.js';

describe('timers', () => {
  const firedAtMs: number[] = [];
  let timers: Timers;

  beforeEach(() => {
    vi.useFakeTimers();
    firedAtMs.length = 0;
    timers = new Timers(() => void firedAtMs.push(performance.now()));
  });
  afterEach(() => {
    timers.clear();
    vi.useRealTimers();
  });

  it('fire at their time; an earlier deadline does not replace a later one', () => {
    const startMs = performance.now();
    for (const ms of [2_000, 500, 1_000]) timers.fireIn(ms);
    vi.advanceTimersByTime(3_000);
    expect(firedAtMs).toHaveLength(3);
    [500, 1_000, 2_000].forEach((ms, index) => {
      expect((firedAtMs[index] ?? 0) - startMs).toBeGreaterThanOrEqual(ms);
      expect((firedAtMs[index] ?? 0) - startMs).toBeLessThan(ms + 100);
    });
  });

  it('share one callback if due at the same time', () => {
    for (let count = 0; count < 1_000; count++) timers.fireIn(500);
    vi.advanceTimersByTime(3_000);
    expect(firedAtMs).toHaveLength(1);
  });

  it('do not fire after they are cleared', () => {
    timers.fireIn(500);
    timers.clear();
    vi.advanceTimersByTime(3_000);
    expect(firedAtMs).toEqual([]);
  });
});
