import { describe, expect, it } from 'vitest';
import { duration, relativeTime, utcTime } from './times.js';

const NOW = Date.parse('2026-01-31T12:00:00.000Z');
const before = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

describe('times of the console', () => {
  it.each([
    [0, 'now'],
    [5, '5 sec. ago'],
    [90, '1 min. ago'],
    [7_200, '2 hr. ago'],
    [3 * 86_400, '3 days ago'],
    [-45, 'in 45 sec.'],
  ])('%i s ago are "%s"', (seconds, shown) => {
    expect(relativeTime(before(seconds), NOW)).toBe(shown);
  });

  it('older than a week are a date', () => {
    expect(relativeTime(before(30 * 86_400), NOW)).toContain('Jan 1, 2026');
  });

  it('are precise in UTC', () => {
    expect(utcTime('2026-01-31T12:00:00.048Z')).toBe('2026-01-31 12:00:00.048 UTC');
  });

  it.each([
    [840, '840 ms'],
    [4_314, '4.3 s'],
    [42_000, '42 s'],
    [125_000, '2 min 5 s'],
    [3_700_000, '1 h 1 min'],
  ])('%i ms last "%s"', (ms, shown) => {
    expect(duration(ms)).toBe(shown);
  });
});
