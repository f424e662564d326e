import { ID_CLOCK_SLACK_MS, idTimeMs, type Uuid } from '@countersign/ids';
import { Database, requireRow, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import {
  BEGIN,
  BEGIN_AGAIN,
  COUNT_MINUTES,
  DISCARD_MINUTES,
  DISCARD_OPEN,
  DROP_MINUTES,
  FIRST_SESSION,
  FOLD_CHANGES,
  FOLD_HOUR,
  FOLD_USAGE_DAYS,
  LOCK_PROGRESS,
  MARK_DAYS,
  MARK_DROPPED,
  MARK_FOLDED,
  MARK_SETTLED,
  MAX_XIDS,
  MAX_XIDS_BEHIND,
  READ_FENCE,
} from './usage-fold.sql.js';
import { DAY_MS, firstHourOf, HOUR_MS, nextDays, nextToSettle, type Span, type UsageProgress } from './usage-window.js';
import { FOLD_DAYS, FOLD_OVERVIEW } from './overview.sql.js';
import { datesOf, spanParameters } from './usage.store.js';

/** Statement timeout for the minutes of one hour. No request waits for it. */
const SETTLE_TIMEOUT_MS = 300_000;

type LockedProgress = Omit<UsageProgress, 'minutesFromMs'> & {
  readonly nowMs: number;
  /** Null until the first hour is folded. */
  readonly daysUntilMs: number | null;
};

/**
 * The only writer of folds. Each method is one transaction that locks the progress, changes the folds and advances the progress;
 * so each change counts once, whatever fails between them, and one process folds at a time.
 */
@Injectable()
export class UsageFoldStore {
  constructor(@Inject(Database) private readonly database: Database) {}

  /**
   * Begins with the first hour that has sessions and is not folded; does nothing while there is no session or afterwards.
   *
   * @returns whether there is a session
   */
  async begin(): Promise<boolean> {
    const [first] = await this.database.query<{ id: Uuid }>(FIRST_SESSION);
    if (first === undefined) return false;
    await this.database.query(BEGIN, [new Date(firstHourOf(idTimeMs(first.id)))]);
    return true;
  }

  /**
   * Adds the changes of the next transactions that have ended, at most `maxXids`, to the open minutes. A progress of more
   * transactions than the server has had, or far behind them, is not continued: it begins again.
   *
   * @returns whether more are due
   */
  foldChanges(maxXids = MAX_XIDS): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const progress = await lock(tx);
      if (progress === null) return false;
      const fence = requireRow(await tx.query<{ xid: number; nowMs: number }>(READ_FENCE));
      const behind = fence.xid - progress.foldedXid;
      if (behind < 0 || behind > MAX_XIDS_BEHIND) {
        await tx.query(DISCARD_OPEN, [new Date(progress.settledUntilMs)]);
        await tx.query(BEGIN_AGAIN);
        return false;
      }
      if (behind === 0) return false;
      const toXid = Math.min(fence.xid, progress.foldedXid + maxXids);
      const open = {
        fromMs: Math.max(progress.settledUntilMs, progress.openFromMs),
        // Every session that is visible was created before.
        toMs: fence.nowMs + ID_CLOCK_SLACK_MS,
      };
      await tx.query(FOLD_CHANGES, [progress.foldedXid, toXid, ...spanParameters(open)]);
      await tx.query(MARK_FOLDED, [toXid]);
      return toXid < fence.xid;
    });
  }

  /**
   * Counts the sessions of the next minutes that can no longer change, at most to the end of their hour, and then folds the hour.
   * Minutes older than retention are deleted with it. Whatever the open minutes had is replaced.
   *
   * @returns whether more are due
   */
  async settleNext(retentionDays: number): Promise<boolean> {
    const settleInOne = async (tx: Executor): Promise<boolean> => {
      const progress = await lock(tx);
      const span = progress === null ? NONE : nextToSettle(progress.settledUntilMs, progress.nowMs);
      if (progress !== null && span.fromMs < span.toMs) await settle(tx, span, progress, retentionDays);
      return span.fromMs < span.toMs;
    };
    return this.database.maintenance(SETTLE_TIMEOUT_MS, (session) => session.transaction(settleInOne));
  }
}

const NONE: Span = { fromMs: 0, toMs: 0 };

async function lock(tx: Executor): Promise<LockedProgress | null> {
  const [progress] = await tx.query<LockedProgress>(LOCK_PROGRESS);
  return progress ?? null;
}

async function settle(tx: Executor, span: Span, progress: LockedProgress, retentionDays: number): Promise<void> {
  await tx.query(DISCARD_MINUTES, datesOf(span));
  await tx.query(COUNT_MINUTES, spanParameters(span));
  await tx.query(MARK_SETTLED, [new Date(span.toMs)]);
  if (span.toMs % HOUR_MS !== 0) return;
  const hour = datesOf({ fromMs: span.toMs - HOUR_MS, toMs: span.toMs });
  await tx.query(FOLD_HOUR, hour);
  await tx.query(FOLD_OVERVIEW, hour);
  if (progress.daysUntilMs !== null) await foldDays(tx, nextDays(progress.daysUntilMs, span.toMs));
  // A day more, so that no report within retention needs a minute that is gone.
  const retainedFromMs = progress.nowMs - (retentionDays + 1) * DAY_MS;
  const end = [new Date(Math.floor(retainedFromMs / HOUR_MS) * HOUR_MS)];
  await tx.query(DROP_MINUTES, end);
  await tx.query(MARK_DROPPED, end);
}

/** Every hour of the days is folded; so each day is added up once, whichever release folded its hours. */
async function foldDays(tx: Executor, days: Span): Promise<void> {
  if (days.fromMs >= days.toMs) return;
  await tx.query(FOLD_USAGE_DAYS, datesOf(days));
  await tx.query(FOLD_DAYS, datesOf(days));
  await tx.query(MARK_DAYS, [new Date(days.toMs)]);
}
