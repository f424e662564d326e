import type { Tenant } from '@countersign/keys';
import { Database, requireRow, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS, idSpan, wholeDays, type Span, type UsageClock, type UsagePlan } from './usage-window.js';
import { ONE_SNAPSHOT, READ_CLOCK, READ_USAGE } from './usage.sql.js';

export const GROUPINGS = ['day', 'country', 'brand'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Numbers of sessions, with the cost of the sessions and their codes as the text of a PostgreSQL numeric. */
export interface UsageCounts {
  readonly total: number;
  readonly approved: number;
  readonly expired: number;
  readonly denied: number;
  readonly rcs: number;
  readonly smsFallback: number;
  readonly costUsd: string;
}

export interface UsageCount {
  readonly all: UsageCounts;
  /** Groups by day (`2026-11-21`), country or brand (its uuid), sorted by key; empty without a grouping. */
  readonly groups: readonly (UsageCounts & { readonly key: string })[];
}

type UsageRow = UsageCounts & { readonly isTotal: boolean; readonly key: string | null };

const NO_USAGE: UsageCounts = { total: 0, approved: 0, expired: 0, denied: 0, rcs: 0, smsFallback: 0, costUsd: '0' };

/** The clock of a snapshot. */
export interface SnapshotClock extends UsageClock {
  /** The end of the transactions that it sees. */
  readonly endXid: number;
  /** The end of the days that are added up; null if none is. */
  readonly daysUntilMs: number | null;
}

interface ClockRow {
  readonly nowMs: number;
  readonly lastHourMs: number | null;
  readonly minutesFromMs: number | null;
  readonly settledUntilMs: number;
  readonly openFromMs: number;
  readonly foldedXid: number;
  readonly daysUntilMs: number | null;
  readonly endXid: number;
}

/** Reads folds and the sessions that are not folded yet. UsageFoldStore writes the folds. */
@Injectable()
export class UsageStore {
  constructor(@Inject(Database) private readonly database: Pick<Database, 'reports'>) {}

  /** Runs `work` on one snapshot: folds that are committed meanwhile change neither the plan nor the counts. */
  inSnapshot<T>(work: (snapshot: Executor) => Promise<T>): Promise<T> {
    return this.database.reports.transaction(async (tx) => {
      await tx.query(ONE_SNAPSHOT);
      return work(tx);
    });
  }

  /** The database time, rounded up to a millisecond, and the progress of the folds. */
  async clock(snapshot: Executor): Promise<SnapshotClock> {
    const row = requireRow(await snapshot.query<ClockRow>(READ_CLOCK));
    const { nowMs, endXid, daysUntilMs, lastHourMs, minutesFromMs, settledUntilMs, openFromMs, foldedXid } = row;
    // The progress of another server, before the next fold begins anew: no open minute is of any use.
    const heldFromMs = foldedXid > endXid ? Infinity : openFromMs;
    const progress =
      minutesFromMs === null ? null : { minutesFromMs, settledUntilMs, openFromMs: heldFromMs, foldedXid };
    return { nowMs, endXid, daysUntilMs, foldedUntilMs: lastHourMs === null ? null : lastHourMs + HOUR_MS, progress };
  }

  /** Counts and cost of a tenant. The plan must be of a clock of the same snapshot. */
  async read(snapshot: Executor, tenant: Tenant, { plan, clock, grouping }: UsageRequest): Promise<UsageCount> {
    const { hours, minutes, open, counted } = plan;
    const rows = await snapshot.query<UsageRow>(READ_USAGE[tenant.mode], [
      tenant.accountId,
      grouping,
      ...datesOf(hours),
      ...counted.flatMap(spanParameters),
      ...datesOf(minutes),
      clock.progress?.foldedXid ?? clock.endXid,
      clock.endXid,
      ...spanParameters(open),
      ...datesOf(wholeDays(hours, clock.daysUntilMs)),
    ]);
    const groups = rows.flatMap(({ isTotal, key, ...counts }) => (isTotal || key === null ? [] : [{ key, ...counts }]));
    const {
      isTotal: _,
      key: __,
      ...all
    } = rows.find((row) => row.isTotal) ?? { ...NO_USAGE, isTotal: true, key: null };
    return { all, groups };
  }
}

export interface UsageRequest {
  readonly plan: UsagePlan;
  readonly clock: SnapshotClock;
  readonly grouping: Grouping | null;
}

export const datesOf = ({ fromMs, toMs }: Span): Date[] => [new Date(fromMs), new Date(toMs)];

/** Its times, then its ids, as every statement on a span of sessions takes them. */
export function spanParameters(span: Span): unknown[] {
  const { low, sessionHigh, messageHigh } = idSpan(span);
  return [...datesOf(span), low, sessionHigh, messageHigh];
}
