import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRetryAfter, RETRY_STEPS_MS, retryDelayMs } from './schedule.js';

describe('the retry schedule', () => {
  it('is 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 10 h, and then ends', () => {
    const delays = Array.from({ length: 9 }, (_, made) => retryDelayMs(made + 1, null, 0.5));
    expect(delays).toEqual([5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1000));
    expect(retryDelayMs(10, null, 0.5)).toBeNull();
  });

  it('stays within 20 % of its step', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.double({ min: 0, max: 1, noNaN: true }), (made, chance) => {
        const step = RETRY_STEPS_MS[made - 1] ?? 0;
        const delay = retryDelayMs(made, null, chance) ?? 0;
        expect(delay).toBeGreaterThanOrEqual(0.8 * step);
        expect(delay).toBeLessThanOrEqual(1.2 * step);
      }),
    );
  });

  it('honours Retry-After between one and two steps', () => {
    expect(retryDelayMs(2, 1_000, 0)).toBe(30_000);
    expect(retryDelayMs(2, 45_000, 0)).toBe(45_000);
    expect(retryDelayMs(2, 86_400_000, 0)).toBe(60_000);
    expect(retryDelayMs(10, 1_000, 0)).toBeNull();
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:01:00 GMT', 0],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['', null],
    ['99999999999999999999', null],
    ['2026', 2_026_000],
  ])('%j is %j ms', (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });

  it('is null when it is missing, and never NaN', () => {
    expect(parseRetryAfter(null, now)).toBeNull();
    fc.assert(fc.property(fc.string(), (header) => !Number.isNaN(parseRetryAfter(header, now) ?? 0)));
  });
});
