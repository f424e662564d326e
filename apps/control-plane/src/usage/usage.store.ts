import type { Tenant } from '@countersign/keys';
import { idTimeMs, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { firstHourOf, HOUR_MS, idSpan, type Span, type UsageClock, type UsagePlan } from './usage-window.js';
import { FIRST_SESSION, FOLD_HOUR, READ_CLOCK, READ_USAGE } from './usage.sql.js';

export const GROUPINGS = ['day', 'country', 'brand'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What was used: numbers of sessions, and their cost with that of their codes, as PostgreSQL writes a numeric. */
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
  /** By day (`2026-11-21`), country or brand (its uuid), sorted by that; empty without a grouping. */
  readonly groups: readonly (UsageCounts & { readonly key: string })[];
}

type UsageRow = UsageCounts & { readonly isTotal: boolean; readonly key: string | null };

const NOTHING: UsageCounts = { total: 0, approved: 0, expired: 0, denied: 0, rcs: 0, smsFallback: 0, costUsd: '0' };

/** The one door to the hours that are counted for good. */
export class UsageStore {
  constructor(private readonly database: Executor) {}

  /** The database's time, rounded up to a millisecond, and how far the counted hours reach. */
  async clock(): Promise<UsageClock> {
    const [row] = await this.database.query<{ nowMs: number; lastHourMs: number | null }>(READ_CLOCK);
    if (row === undefined) throw new Error('the database has no clock');
    return { nowMs: row.nowMs, foldedUntilMs: row.lastHourMs === null ? null : row.lastHourMs + HOUR_MS };
  }

  /** Counts and cost of a tenant. Hours that were folded since the plan was made do not change the result. */
  async read(tenant: Tenant, plan: UsagePlan, grouping: Grouping | null): Promise<UsageCount> {
    const { folded, head, tail } = plan;
    const rows = await this.database.query<UsageRow>(READ_USAGE[tenant.mode], [
      tenant.accountId,
      grouping,
      ...datesOf(folded),
      ...spanParameters(head),
      ...spanParameters(tail),
    ]);
    const groups = rows.flatMap(({ isTotal, key, ...counts }) => (isTotal || key === null ? [] : [{ key, ...counts }]));
    const { isTotal: _, key: __, ...all } = rows.find((row) => row.isTotal) ?? { ...NOTHING, isTotal: true, key: null };
    return { all, groups };
  }

  /** The hour that is to be counted next; null when there is no session yet. */
  async nextHour({ foldedUntilMs }: UsageClock): Promise<number | null> {
    if (foldedUntilMs !== null) return foldedUntilMs;
    const [first] = await this.database.query<{ id: Uuid }>(FIRST_SESSION);
    return first === undefined ? null : firstHourOf(idTimeMs(first.id));
  }

  /** Counts an hour for good; does nothing when it is. The hour must be settled. */
  async fold(session: Executor, hourMs: number): Promise<void> {
    await session.query(FOLD_HOUR, spanParameters({ fromMs: hourMs, toMs: hourMs + HOUR_MS }));
  }
}

const datesOf = ({ fromMs, toMs }: Span): Date[] => [new Date(fromMs), new Date(toMs)];

function spanParameters(span: Span): unknown[] {
  const { low, sessionHigh, messageHigh } = idSpan(span);
  return [...datesOf(span), low, sessionHigh, messageHigh];
}
