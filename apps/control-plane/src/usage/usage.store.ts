import type { Tenant } from '@countersign/keys';
import { idTimeMs, type Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { firstHourOf, HOUR_MS, idSpan, type Span, type UsageClock, type UsagePlan } from './usage-window.js';
import { FIRST_SESSION, FOLD_HOUR, READ_CLOCK, READ_USAGE } from './usage.sql.js';

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

/** Reads usage and folds hours. All statements on `usage_hours` and `usage_folds` are here. */
export class UsageStore {
  constructor(private readonly database: Executor) {}

  /** The database time, rounded up to a millisecond, and the end of the folded hours. */
  async clock(): Promise<UsageClock> {
    const row = requireRow(await this.database.query<{ nowMs: number; lastHourMs: number | null }>(READ_CLOCK));
    return { nowMs: row.nowMs, foldedUntilMs: row.lastHourMs === null ? null : row.lastHourMs + HOUR_MS };
  }

  /** Counts and cost of a tenant. Hours that are folded after the plan was made do not change the result. */
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
    const {
      isTotal: _,
      key: __,
      ...all
    } = rows.find((row) => row.isTotal) ?? { ...NO_USAGE, isTotal: true, key: null };
    return { all, groups };
  }

  /** The next hour to fold; null if there is no session yet. */
  async nextHourToFold({ foldedUntilMs }: UsageClock): Promise<number | null> {
    if (foldedUntilMs !== null) return foldedUntilMs;
    const [first] = await this.database.query<{ id: Uuid }>(FIRST_SESSION);
    return first === undefined ? null : firstHourOf(idTimeMs(first.id));
  }

  /** Folds an hour; does nothing if it is folded. The hour must be settled. */
  async foldHour(session: Executor, hourMs: number): Promise<void> {
    await session.query(FOLD_HOUR, spanParameters({ fromMs: hourMs, toMs: hourMs + HOUR_MS }));
  }
}

const datesOf = ({ fromMs, toMs }: Span): Date[] => [new Date(fromMs), new Date(toMs)];

function spanParameters(span: Span): unknown[] {
  const { low, sessionHigh, messageHigh } = idSpan(span);
  return [...datesOf(span), low, sessionHigh, messageHigh];
}
