import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import { ID_EARLIER_MS } from '@countersign/session';
import { LONGEST_SESSION_MS } from '@countersign/session/rules';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Contract, VALIDATION_ERROR. */
export const MAX_SPAN_DAYS = 366;

/** An hour is folded this long after the end of its longest session, when its last transactions have ended. */
const SETTLED_AFTER_MS = 600_000;
/** Partitions are dropped by session id, so some sessions shortly after the edge may be in a dropped partition. */
const RETENTION_SLACK_MS = 900_000;

/** From `fromMs` (inclusive) to `toMs` (exclusive); empty if they are equal. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The parts of a report: folded hours, and the spans before and after them, which are counted for the report. */
export interface UsagePlan {
  /** The window of the report. Edges that are too old to be exact are extended to the full hour. */
  readonly period: Span;
  readonly folded: Span;
  readonly head: Span;
  readonly tail: Span;
}

/** The database time, with the end of the folded hours. */
export interface UsageClock {
  readonly nowMs: number;
  /** Every hour before it is folded; null if none is. */
  readonly foldedUntilMs: number | null;
}

const floorHour = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;
const ceilHour = (ms: number): number => Math.ceil(ms / HOUR_MS) * HOUR_MS;

/** The first of the month, 00:00 UTC. */
export function startOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** Splits a window so that each session counts once, with as many folded hours as possible. */
export function planUsage(window: Span, clock: UsageClock, retentionDays: number): UsagePlan {
  const exactFromMs = clock.nowMs - retentionDays * DAY_MS + RETENTION_SLACK_MS;
  const fromMs = window.fromMs < exactFromMs ? floorHour(window.fromMs) : window.fromMs;
  const toMs = window.toMs < exactFromMs ? ceilHour(window.toMs) : window.toMs;
  const period = { fromMs, toMs };
  const firstHourMs = ceilHour(fromMs);
  const lastHourMs = Math.min(floorHour(toMs), clock.foldedUntilMs ?? firstHourMs);
  if (lastHourMs <= firstHourMs) {
    return { period, head: period, folded: { fromMs: toMs, toMs }, tail: { fromMs: toMs, toMs } };
  }
  return {
    period,
    head: { fromMs, toMs: firstHourMs },
    folded: { fromMs: firstHourMs, toMs: lastHourMs },
    tail: { fromMs: lastHourMs, toMs },
  };
}

/** Whether the sessions of an hour can no longer change. */
export const isSettled = (hourMs: number, nowMs: number): boolean =>
  hourMs + HOUR_MS + LONGEST_SESSION_MS + SETTLED_AFTER_MS <= nowMs;

/** The earliest hour in which a session with this id time can have been created. */
export const firstHourOf = (idTimeMs: number): number => floorHour(idTimeMs - ID_CLOCK_SLACK_MS);

/** Id ranges of the sessions of a span and of their codes: from `low` (inclusive) to the `high` (exclusive). */
export interface IdSpan {
  readonly low: Uuid;
  readonly sessionHigh: Uuid;
  readonly messageHigh: Uuid;
}

export function idSpan({ fromMs, toMs }: Span): IdSpan {
  const idAt = (ms: number): Uuid => firstIdAt(Math.max(0, ms));
  // An empty span maps to an empty id range, so that no partition is read.
  if (fromMs >= toMs) return { low: idAt(fromMs), sessionHigh: idAt(fromMs), messageHigh: idAt(fromMs) };
  return {
    low: idAt(fromMs - ID_EARLIER_MS),
    sessionHigh: idAt(toMs + ID_CLOCK_SLACK_MS),
    messageHigh: idAt(toMs + LONGEST_SESSION_MS + ID_CLOCK_SLACK_MS),
  };
}
