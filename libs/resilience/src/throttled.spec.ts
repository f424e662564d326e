import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { throttled } from './throttled.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ['once a second', undefined, 1_000],
  ['once per interval', 5_000, 5_000],
])('a throttled report is made %s, with the first error', (_, intervalMs, periodMs) => {
  const reports: unknown[] = [];
  const report = throttled((error) => reports.push(error), intervalMs);
  report('first');
  report('dropped');
  vi.advanceTimersByTime(periodMs - 1);
  report('dropped');
  vi.advanceTimersByTime(1);
  report('second');
  expect(reports).toEqual(['first', 'second']);
});
