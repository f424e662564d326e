import { queryOptions } from '@tanstack/react-query';
import { type AccountScope, keyOf } from '../account/scope.js';
import { api, dataOf, type Schemas } from '../api/client.js';

export type Usage = Schemas['UsageAnswer'];
export type UsageGroup = Schemas['UsageGroup'];
export type Grouping = 'day' | 'country' | 'brand';

const STALE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The start of a window that ends now and has that many days, today included (UTC). */
export const startOf = (days: number, nowMs = Date.now()): string =>
  new Date(Math.floor(nowMs / DAY_MS) * DAY_MS - (days - 1) * DAY_MS).toISOString();

export const usageQuery = (scope: AccountScope, days: number, groupBy: Grouping) =>
  queryOptions({
    queryKey: keyOf(scope, 'usage', String(days), groupBy),
    staleTime: STALE_MS,
    queryFn: ({ signal }) => {
      const params = { query: { from: startOf(days), groupBy } };
      return dataOf(api.GET('/v1/usage', { headers: scope.headers, params, signal }));
    },
  });

const EMPTY = {
  verifications: { total: 0, approved: 0, expired: 0, denied: 0 },
  channels: { rcs: 0, sms_fallback: 0 },
  estimatedCostUsd: '0.00',
};

/** One group for each day of the period, those without sessions too. */
export function everyDay({ period, breakdown = [] }: Usage): readonly UsageGroup[] {
  const byDay = new Map(breakdown.map((group) => [group.day, group]));
  const days: UsageGroup[] = [];
  for (let at = Date.parse(period.from); at < Date.parse(period.to); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push(byDay.get(day) ?? { ...EMPTY, day });
  }
  return days;
}

/** Sessions that are pending or were cancelled. */
export const othersOf = ({ verifications: { total, approved, expired, denied } }: UsageGroup): number =>
  total - approved - expired - denied;

/** The groups as a table: numbers, ids and dates alone, which no spreadsheet runs. */
export function csvOf(name: string, groups: readonly UsageGroup[]): string {
  const head = [name, 'total', 'approved', 'denied', 'expired', 'rcs', 'sms_fallback', 'estimatedCostUsd'];
  const rows = groups.map((group) => {
    const { verifications: of, channels, estimatedCostUsd } = group;
    const label = group.day ?? group.country ?? group.brandId ?? '';
    return [label, of.total, of.approved, of.denied, of.expired, channels.rcs, channels.sms_fallback, estimatedCostUsd];
  });
  return [head, ...rows].map((cells) => `${cells.join(',')}\r\n`).join('');
}
