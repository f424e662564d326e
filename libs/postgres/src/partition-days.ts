export const DAY_MS = 86_400_000;
/** Number of days ahead for which partitions are created: an outage may last this long before inserts fail. */
export const DAYS_AHEAD = 7;

/** The tables that are partitioned by the day of their id. */
export const PARTITIONED_TABLES = [
  'sessions',
  'messages',
  'outbound_messages',
  'events',
  'deliveries',
  'cards',
  'card_events',
] as const;
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number];

const NAME = new RegExp(`^(${PARTITIONED_TABLES.join('|')})_p(\\d{8})$`);
/** The same pattern for PostgreSQL. */
export const PARTITION_NAME_PATTERN = NAME.source.replaceAll('\\d', '[0-9]');

/** Days since 1 January 1970, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** The parts of a time span in each of its days, ends included, in order. */
export function dayRanges(fromMs: number, toMs: number): { readonly fromMs: number; readonly toMs: number }[] {
  const first = dayOf(fromMs);
  return Array.from({ length: dayOf(toMs) - first + 1 }, (_, index) => ({
    fromMs: Math.max(fromMs, (first + index) * DAY_MS),
    toMs: Math.min(toMs, (first + index + 1) * DAY_MS - 1),
  }));
}

/** `2025-11-21`. */
export const isoDate = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const dateOf = (day: number): string => isoDate(day).replaceAll('-', '');

/** `sessions_p20251121`. */
export const partitionName = (table: PartitionedTable, day: number): string => `${table}_p${dateOf(day)}`;

/** The table and the day of a partition's name; null for any other name. */
export function partitionOf(name: string): { table: PartitionedTable; day: number } | null {
  const [, prefix, date = ''] = NAME.exec(name) ?? [];
  const table = PARTITIONED_TABLES.find((each) => each === prefix);
  const day = dayOf(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6))));
  return table !== undefined && dateOf(day) === date ? { table, day } : null;
}

/** Yesterday, for ids created just before midnight or by a slow clock; today; and the days ahead. */
export function neededDays(nowMs: number): number[] {
  const today = dayOf(nowMs);
  return Array.from({ length: DAYS_AHEAD + 2 }, (_, index) => today - 1 + index);
}

/** Whether the whole day is more than `retentionDays` old. */
export const isPastRetention = (day: number, nowMs: number, retentionDays: number): boolean =>
  (day + 1) * DAY_MS <= nowMs - retentionDays * DAY_MS;
