import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import { ID_EARLIER_MS } from '@countersign/session';
import { LONGEST_SESSION_MS } from '@countersign/session/rules';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Contract, VALIDATION_ERROR. */
export const MAX_SPAN_DAYS = 366;

/** A minute is settled this long after the end of its longest session, when its last transactions have ended. */
const SETTLED_AFTER_MS = 600_000;
/** Days that are added up in one transaction at most: after an upgrade there may be years of hours. */
const MAX_FOLDED_DAYS = 31;
/** Partitions are dropped by session id, so some sessions shortly after the edge may be in a dropped partition. */
const RETENTION_SLACK_MS = 900_000;

/** From `fromMs` (inclusive) to `toMs` (exclusive); empty if they are equal. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Up to where usage is folded (see UsageFoldStore). Times are starts of hours or minutes. */
export interface UsageProgress {
  /** Minutes are kept from here on. The start of an hour. */
  readonly minutesFromMs: number;
  /** Minutes before it are final. */
  readonly settledUntilMs: number;
  /** Changes of sessions that were created from here on are folded by transaction. */
  readonly openFromMs: number;
  /** Changes by transactions below this id are folded. */
  readonly foldedXid: number;
}

/** The database time, with the end of the folded hours and the progress of the minutes, null before the first fold. */
export interface UsageClock {
  /** Later than the creation of every visible session. */
  readonly nowMs: number;
  readonly foldedUntilMs: number | null;
  readonly progress: UsageProgress | null;
}

/** The parts of a report. No session is in two of them. */
export interface UsagePlan {
  /** The window of the report. Edges that are too old to be exact are extended to the full hour. */
  readonly period: Span;
  readonly hours: Span;
  /** Whole minutes, except for `hours`. */
  readonly minutes: Span;
  /** The part of `minutes` whose sessions may change: folded changes, and those that are not folded yet. */
  readonly open: Span;
  /** Spans whose sessions are counted one by one: before the minutes, after them, and in a gap between them. */
  readonly counted: readonly [Span, Span, Span];
}

const floorTo = (unit: number, ms: number): number => Math.floor(ms / unit) * unit;
const ceilTo = (unit: number, ms: number): number => Math.ceil(ms / unit) * unit;

/** The first of the month, 00:00 UTC. */
export function startOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** The window as it is reported: edges that are too old to be exact are extended to the full hour. */
function periodOf(window: Span, nowMs: number, retentionDays: number): Span {
  const exactFromMs = nowMs - retentionDays * DAY_MS + RETENTION_SLACK_MS;
  const fromMs = window.fromMs < exactFromMs ? floorTo(HOUR_MS, window.fromMs) : window.fromMs;
  const toMs = window.toMs < exactFromMs ? ceilTo(HOUR_MS, window.toMs) : window.toMs;
  return { fromMs, toMs };
}

/**
 * The window of an overview: whole minutes that contain the given one, whole hours where minutes are not kept. An end that is not
 * past stays as it is.
 */
export function wholeMinutes({ fromMs, toMs }: Span, { nowMs, progress }: UsageClock): Span {
  const unitAt = (ms: number): number => (ms < (progress?.minutesFromMs ?? 0) ? HOUR_MS : MINUTE_MS);
  return { fromMs: floorTo(unitAt(fromMs), fromMs), toMs: toMs >= nowMs ? toMs : ceilTo(unitAt(toMs), toMs) };
}

/** A span, empty at its end if its start is not before it. */
const spanOf = (fromMs: number, toMs: number): Span => ({ fromMs: Math.min(fromMs, toMs), toMs });

/** Splits a window so that each session counts once, with as many folded hours and minutes as possible. */
export function planUsage(window: Span, clock: UsageClock, retentionDays: number): UsagePlan {
  const period = periodOf(window, clock.nowMs, retentionDays);
  const { fromMs, toMs } = period;
  const { progress } = clock;
  const none = spanOf(toMs, toMs);
  const allCounted = { period, hours: none, minutes: none, open: none, counted: [period, none, none] } as const;
  if (progress === null) return allCounted;
  const { minutesFromMs, settledUntilMs, openFromMs } = progress;
  const firstMs = ceilTo(fromMs < minutesFromMs ? HOUR_MS : MINUTE_MS, fromMs);
  const lastMs = toMs >= clock.nowMs ? toMs : floorTo(toMs <= minutesFromMs ? HOUR_MS : MINUTE_MS, toMs);
  if (firstMs >= lastMs) return allCounted;
  const hours = spanOf(
    ceilTo(HOUR_MS, firstMs),
    Math.min(floorTo(HOUR_MS, lastMs), clock.foldedUntilMs ?? minutesFromMs),
  );
  const afterHoursMs = hours.fromMs < hours.toMs ? hours.toMs : firstMs;
  return {
    period,
    hours,
    minutes: { fromMs: firstMs, toMs: lastMs },
    open: spanOf(Math.max(afterHoursMs, settledUntilMs, openFromMs), lastMs),
    counted: [
      { fromMs, toMs: firstMs },
      { fromMs: lastMs, toMs },
      spanOf(Math.max(afterHoursMs, settledUntilMs), Math.min(lastMs, openFromMs)),
    ],
  };
}

/** The whole days (UTC) of some hours that end by `untilMs`; empty at the first of the hours if there are none. */
export function wholeDays({ fromMs, toMs }: Span, untilMs: number | null): Span {
  const days = { fromMs: ceilTo(DAY_MS, fromMs), toMs: floorTo(DAY_MS, Math.min(toMs, untilMs ?? -Infinity)) };
  return days.fromMs < days.toMs ? days : { fromMs, toMs: fromMs };
}

/** The next days to add up from hours that are folded up to `foldedUntilMs`. Empty if none is due. */
export const nextDays = (daysUntilMs: number, foldedUntilMs: number): Span =>
  spanOf(daysUntilMs, Math.min(floorTo(DAY_MS, foldedUntilMs), daysUntilMs + MAX_FOLDED_DAYS * DAY_MS));

/** The end of the minutes whose sessions can no longer change. */
export const settledEndMs = (nowMs: number): number =>
  floorTo(MINUTE_MS, nowMs - LONGEST_SESSION_MS - SETTLED_AFTER_MS);

/** The next span to settle: whole minutes of one hour. Empty if none is due. */
export function nextToSettle(settledUntilMs: number, nowMs: number): Span {
  const endOfHourMs = floorTo(HOUR_MS, settledUntilMs) + HOUR_MS;
  return spanOf(settledUntilMs, Math.min(endOfHourMs, settledEndMs(nowMs)));
}

/** The earliest hour in which a session with this id time can have been created. */
export const firstHourOf = (idTimeMs: number): number => floorTo(HOUR_MS, idTimeMs - ID_CLOCK_SLACK_MS);

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
