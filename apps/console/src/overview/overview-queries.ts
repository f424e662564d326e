import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';

export type Overview = Schemas['OverviewAnswer'];
export type Figures = Pick<Overview, 'funnel' | 'timeToApproveMs' | 'codesSent' | 'spendUsd'>;
export type Group = NonNullable<Overview['breakdown']>[number];
type Grouping = 'channel' | 'country' | 'brand' | 'hour' | 'day';

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;
/** The sums are of minutes. */
const OVERVIEW_MS = 15_000;
/** Longer ranges are shown by day. */
const HOURLY_MS = 3 * DAY_MS;

export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The ranges that end now, by their names in the address. */
export const RANGES = {
  '1h': ['Hour', HOUR_MS],
  '24h': ['24 hours', DAY_MS],
  '7d': ['7 days', WEEK_MS],
  '30d': ['30 days', 30 * DAY_MS],
} as const satisfies Readonly<Record<string, readonly [string, number]>>;
export type RangeName = keyof typeof RANGES;

export const isRangeName = (text: string | undefined): text is RangeName => text !== undefined && text in RANGES;

export const groupingOf = ({ fromMs, toMs }: Range): 'hour' | 'day' => (toMs - fromMs <= HOURLY_MS ? 'hour' : 'day');

const weekBefore = ({ fromMs, toMs }: Range): Range => ({ fromMs: fromMs - WEEK_MS, toMs: toMs - WEEK_MS });

/** A range in an address: its name, or its two ends. */
export interface RangeSearch {
  readonly range?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Null for a range that ends before it begins, or is no range. */
export function rangeOf({ range, from, to }: RangeSearch, nowMs: number): Range | null {
  if (from === undefined && to === undefined) {
    const [, lengthMs] = RANGES[isRangeName(range) ? range : '24h'];
    return { fromMs: nowMs - lengthMs, toMs: nowMs };
  }
  const toMs = to === undefined ? nowMs : Date.parse(to);
  const fromMs = from === undefined ? toMs - DAY_MS : Date.parse(from);
  return fromMs < toMs ? { fromMs, toMs } : null;
}

const read = ({ fromMs, toMs }: Range, groupBy: Grouping, isTest: boolean, signal: AbortSignal): Promise<Overview> => {
  const period = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const query = { ...period, groupBy, test: isTest ? ('true' as const) : ('false' as const) };
  return dataOf(api.GET('/v1/admin/overview', { params: { query }, signal }));
};

/** The range and the same one a week before. */
export interface Compared {
  readonly range: Range;
  readonly now: Overview;
  readonly before: Overview;
}

/** The funnel over time. A range that ends now is read again, with the new end. */
export const overviewQuery = (search: RangeSearch, isTest: boolean) =>
  queryOptions({
    queryKey: ['overview', search, isTest],
    refetchInterval: search.to === undefined ? OVERVIEW_MS : false,
    queryFn: async ({ signal }): Promise<Compared> => {
      const range = rangeOf(search, Date.now());
      if (range === null) throw new Error('The range ends before it begins.');
      const grouping = groupingOf(range);
      const [now, before] = await Promise.all([
        read(range, grouping, isTest, signal),
        read(weekBefore(range), grouping, isTest, signal),
      ]);
      return { range, now, before };
    },
  });

export const breakdownQuery = (search: RangeSearch, groupBy: 'channel' | 'country' | 'brand', isTest: boolean) =>
  queryOptions({
    queryKey: ['overview', search, isTest, groupBy],
    refetchInterval: search.to === undefined ? OVERVIEW_MS : false,
    queryFn: async ({ signal }): Promise<readonly (readonly [Group, Group | undefined])[]> => {
      const range = rangeOf(search, Date.now());
      if (range === null) return [];
      const [now, before] = await Promise.all([
        read(range, groupBy, isTest, signal),
        read(weekBefore(range), groupBy, isTest, signal),
      ]);
      const old = new Map((before.breakdown ?? []).map((group) => [keyOf(group), group]));
      return (now.breakdown ?? []).map((group) => [group, old.get(keyOf(group))] as const);
    },
  });

export const keyOf = ({ channel, country, brandId }: Group): string => channel ?? country ?? brandId ?? '';

/** Sessions without an answer yet are part of it. Null without sessions. */
export const conversionOf = ({ created, approved }: Overview['funnel']): number | null =>
  created === null || created === 0 ? null : approved / created;
