import { describe, expect, it } from 'vitest';
import { usageAnswer } from './usage.view.js';

const COUNTS = { total: 7, approved: 3, expired: 2, denied: 1, rcs: 4, smsFallback: 3, costUsd: '0.055300' };
const PERIOD = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 10, 21, 1, 2, 3, 4) };

describe('a usage report', () => {
  it('has the fields of the specification', () => {
    expect(usageAnswer(PERIOD, { all: COUNTS, groups: [] }, null)).toEqual({
      period: { from: '2026-11-01T00:00:00.000Z', to: '2026-11-21T01:02:03.004Z' },
      verifications: { total: 7, approved: 3, expired: 2, denied: 1 },
      channels: { rcs: 4, sms_fallback: 3 },
      estimatedCostUsd: '0.0553',
    });
  });

  it('has a breakdown whose entries name their day, country or brand', () => {
    const brand = '019a9ef2-0000-7000-8000-000000000001';
    const by = (grouping: 'day' | 'country' | 'brand', key: string) =>
      usageAnswer(PERIOD, { all: COUNTS, groups: [{ ...COUNTS, key }] }, grouping).breakdown?.[0];
    expect(by('day', '2026-11-01')).toMatchObject({ day: '2026-11-01', verifications: { total: 7 } });
    expect(by('country', 'US')).toMatchObject({ country: 'US', channels: { rcs: 4 } });
    expect(by('brand', brand)?.brandId).toMatch(/^brd_[0-9A-Z]{26}$/);
    expect(usageAnswer(PERIOD, { all: COUNTS, groups: [] }, 'day').breakdown).toEqual([]);
  });
});
