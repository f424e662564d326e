import { Database, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { timeQuantileMs } from './approval-time.js';
import { READ_OVERVIEW } from './overview.sql.js';
import { HOUR_MS, planUsage, wholeDays, wholeMinutes, type Span, type UsageClock } from './usage-window.js';
import { datesOf, spanParameters, UsageStore, type SnapshotClock } from './usage.store.js';

export const OVERVIEW_GROUPINGS = ['country', 'channel', 'brand', 'route', 'day', 'hour'] as const;
export type OverviewGrouping = (typeof OVERVIEW_GROUPINGS)[number];

/** Counts of sessions and codes of all accounts. In a group of codes only `approved`, `codes` and `costMicros` are of it. */
export interface OverviewCounts {
  readonly created: number;
  readonly reached: number;
  readonly approved: number;
  readonly denied: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly codes: number;
  /** In millionths of a US dollar. */
  readonly costMicros: bigint;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface Overview {
  /** Whole minutes, or hours where minutes are not kept. */
  readonly period: Span;
  readonly all: OverviewCounts;
  /** Most sessions, or codes, first; by day or hour in their order. */
  readonly groups: readonly (OverviewCounts & { readonly key: string })[];
}

const COUNTS = ['created', 'reached', 'approved', 'denied', 'expired', 'cancelled', 'codes'] as const;

type OverviewRow = Readonly<Record<(typeof COUNTS)[number], number>> & {
  readonly dimension: string;
  readonly key: string;
  readonly bucket: number;
  readonly costUsd: string;
  readonly times: readonly number[] | null;
};

/** A sum of rows. */
class Sum {
  readonly #counts = { created: 0, reached: 0, approved: 0, denied: 0, expired: 0, cancelled: 0, codes: 0 };
  readonly #times = new Map<number, number>();
  #costMicros = 0n;

  add(row: OverviewRow): void {
    for (const count of COUNTS) this.#counts[count] += row[count];
    this.#costMicros += microsOf(row.costUsd);
    for (const [bucket, count] of (row.times ?? []).entries()) this.#addTimes(bucket, count);
    if (row.times === null) this.#addTimes(row.bucket, row.approved);
  }

  get result(): OverviewCounts {
    const [p50Ms, p95Ms] = [timeQuantileMs(this.#times, 0.5), timeQuantileMs(this.#times, 0.95)];
    return { ...this.#counts, costMicros: this.#costMicros, p50Ms, p95Ms };
  }

  #addTimes(bucket: number, count: number): void {
    this.#times.set(bucket, (this.#times.get(bucket) ?? 0) + count);
  }
}

/** A PostgreSQL numeric of six decimals, exactly. */
function microsOf(usd: string): bigint {
  const [whole = '0', decimals = ''] = usd.split('.');
  const micros = BigInt(decimals.slice(0, 6).padEnd(6, '0'));
  return BigInt(whole) * 1_000_000n + (usd.startsWith('-') ? -micros : micros);
}

/** Reads the funnel of all accounts of one mode from folds, in one snapshot. UsageFoldStore writes the folds. */
@Injectable()
export class OverviewStore {
  readonly #usage: UsageStore;

  constructor(@Inject(Database) database: Pick<Database, 'reports'>) {
    this.#usage = new UsageStore(database);
  }

  /** Runs `work` on one snapshot, with its clock. */
  inSnapshot<T>(work: (snapshot: Executor, clock: SnapshotClock) => Promise<T>): Promise<T> {
    return this.#usage.inSnapshot(async (snapshot) => work(snapshot, await this.#usage.clock(snapshot)));
  }

  async read(snapshot: Executor, clock: SnapshotClock, request: OverviewRequest): Promise<Overview> {
    const { test, grouping } = request;
    const reached = ofOverview(clock);
    // Minutes older than retention are gone with the sessions: their edges are hours already.
    const { period, ...plan } = planUsage(wholeMinutes(request.window, reached), reached, Infinity);
    const byTime = grouping === 'day' || grouping === 'hour';
    const rows = await snapshot.query<OverviewRow>(READ_OVERVIEW[byTime ? grouping : 'key'], [
      test,
      byTime ? 'all' : (grouping ?? 'all'),
      ...datesOf(plan.hours),
      ...spanParameters(plan.counted[0]),
      ...spanParameters(plan.counted[2]),
      ...datesOf(plan.minutes),
      clock.progress?.foldedXid ?? clock.endXid,
      clock.endXid,
      ...spanParameters(plan.open),
      ...datesOf(wholeDays(plan.hours, grouping === 'hour' ? null : clock.daysUntilMs)),
    ]);
    return { period, ...sumsOf(rows, grouping) };
  }
}

export interface OverviewRequest {
  readonly window: Span;
  readonly test: boolean;
  readonly grouping: OverviewGrouping | null;
}

/** Hours are added up by dimension once their minutes are settled, whoever folded them for usage. */
function ofOverview<Clock extends UsageClock>(clock: Clock): Clock {
  const { progress } = clock;
  if (progress === null || clock.foldedUntilMs === null) return clock;
  const settledHourMs = Math.floor(progress.settledUntilMs / HOUR_MS) * HOUR_MS;
  return { ...clock, foldedUntilMs: Math.min(clock.foldedUntilMs, settledHourMs) };
}

function sumsOf(rows: readonly OverviewRow[], grouping: OverviewGrouping | null): Pick<Overview, 'all' | 'groups'> {
  const all = new Sum();
  const groups = new Map<string, Sum>();
  const byTime = grouping === 'day' || grouping === 'hour';
  for (const row of rows) {
    if (row.dimension === 'all') all.add(row);
    if (grouping === null || (row.dimension === 'all') !== byTime) continue;
    const group = groups.get(row.key) ?? new Sum();
    group.add(row);
    groups.set(row.key, group);
  }
  const results = [...groups].map(([key, sum]) => ({ key, ...sum.result }));
  const present = results.filter(({ created, approved, codes }) => created > 0 || approved > 0 || codes > 0);
  return { all: all.result, groups: present.sort(byTime ? earlierFirst : largerFirst) };
}

type Group = Overview['groups'][number];
const earlierFirst = (one: Group, other: Group): number => (one.key < other.key ? -1 : 1);
const largerFirst = (one: Group, other: Group): number =>
  other.created - one.created || other.codes - one.codes || earlierFirst(one, other);
