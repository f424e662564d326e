import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DAY_MS,
  dayOf,
  dayRanges,
  isPastRetention,
  neededDays,
  PARTITIONED_TABLES,
  partitionName,
  partitionOf,
} from './partition-days.js';

const NOON = Date.UTC(2025, 10, 21, 12);
const day = fc.integer({ min: 0, max: 40_000 });
const table = fc.constantFrom(...PARTITIONED_TABLES);

describe('the partition of a day', () => {
  it('is named after its table and its date', () => {
    expect(partitionName('sessions', dayOf(NOON))).toBe('sessions_p20251121');
  });

  it('has a name from which its table and its day are parsed', () => {
    fc.assert(
      fc.property(table, day, (of, each) => {
        expect(partitionOf(partitionName(of, each))).toEqual({ table: of, day: each });
      }),
    );
  });

  it('is not parsed from any other name', () => {
    const names = [
      'sessions',
      'sessions_p20251321',
      'sessions_p20250230',
      'brands_p20251121',
      'sessions_p20251121_old',
      'x',
    ];
    expect(names.map(partitionOf)).toEqual(names.map(() => null));
  });
});

describe('the needed days', () => {
  it('are yesterday, today and the next seven', () => {
    const today = dayOf(NOON);
    expect(neededDays(NOON)).toEqual([-1, 0, 1, 2, 3, 4, 5, 6, 7].map((offset) => today + offset));
  });
});

describe('a day past retention', () => {
  it('ended longer ago than the retention', () => {
    const edge = Date.UTC(2025, 10, 21);
    expect(isPastRetention(dayOf(edge) - 31, edge, 30)).toBe(true);
    expect(isPastRetention(dayOf(edge) - 30, edge, 30)).toBe(false);
    expect(isPastRetention(dayOf(edge) - 31, edge - 1, 30)).toBe(false);
  });

  it('is never a needed day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1e12, max: 4e12 }), fc.integer({ min: 1, max: 400 }), (nowMs, retentionDays) =>
        neededDays(nowMs).every((each) => !isPastRetention(each, nowMs, retentionDays)),
      ),
    );
  });
});

describe('the parts of a time span', () => {
  it('are of one day each, and cover it without gap or overlap', () => {
    const span = fc.tuple(fc.integer({ min: NOON, max: NOON + DAY_MS }), fc.integer({ min: 0, max: 3 * DAY_MS }));
    fc.assert(
      fc.property(span, ([fromMs, length]) => {
        const parts = dayRanges(fromMs, fromMs + length);
        expect([parts[0]?.fromMs, parts.at(-1)?.toMs]).toEqual([fromMs, fromMs + length]);
        for (const [at, part] of parts.entries()) {
          expect(dayOf(part.fromMs)).toBe(dayOf(part.toMs));
          if (at > 0) expect(part.fromMs).toBe((parts[at - 1]?.toMs ?? 0) + 1);
        }
      }),
    );
  });
});
