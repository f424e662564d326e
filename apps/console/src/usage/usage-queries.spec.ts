import { describe, expect, it } from 'vitest';
import { csvOf, everyDay, othersOf, startOf, type UsageGroup } from './usage-queries.js';

const group = (day: string, total: number): UsageGroup => ({
  day,
  verifications: { total, approved: 3, expired: 1, denied: 1 },
  channels: { rcs: 2, sms_fallback: 5 },
  estimatedCostUsd: '0.1234',
});

describe('usage by day', () => {
  it('begins at midnight UTC, today included', () => {
    expect(startOf(7, Date.parse('2026-11-24T05:00:00Z'))).toBe('2026-11-18T00:00:00.000Z');
  });

  it('has the days without sessions too', () => {
    const usage = {
      ...group('', 7),
      period: { from: '2026-11-22T00:00:00.000Z', to: '2026-11-24T05:00:00.000Z' },
      breakdown: [group('2026-11-23', 7)],
    };
    expect(everyDay(usage).map(({ day, verifications }) => [day, verifications.total])).toEqual([
      ['2026-11-22', 0],
      ['2026-11-23', 7],
      ['2026-11-24', 0],
    ]);
  });

  it('counts pending and cancelled sessions as others', () => {
    expect(othersOf(group('2026-11-23', 7))).toBe(2);
  });

  it('is a table', () => {
    expect(csvOf('day', [group('2026-11-23', 7)])).toBe(
      'day,total,approved,denied,expired,rcs,sms_fallback,estimatedCostUsd\r\n2026-11-23,7,3,1,1,2,5,0.1234\r\n',
    );
  });
});
