import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import { ID_EARLIER_MS } from '@countersign/session';
import { LONGEST_SESSION_MS } from '@countersign/session/rules';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Contract, VALIDATION_ERROR. */
export const MAX_SPAN_DAYS = 366;

/** An hour is counted for good so long after its longest session is over: its last statements have then been heard of. */
const SETTLED_AFTER_MS = 600_000;
/** A day's partition is dropped by the ids of its sessions: near the edge some may have gone with the day before. */
const RETENTION_SLACK_MS = 900_000;

/** From a millisecond up to, but not, another; empty when they are the same. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How a report is put together: hours that are counted for good, and what is counted now before and after them. */
export interface UsagePlan {
  /** What the report is about: the window, with edges that are too old to be exact moved out to the hour. */
  readonly period: Span;
  readonly folded: Span;
  readonly head: Span;
  readonly tail: Span;
}

/** The state of the records at one moment. */
export interface UsageClock {
  readonly nowMs: number;
  /** Every hour before it is counted for good; null when none is. */
  readonly foldedUntilMs: number | null;
}

const floorHour = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;
const ceilHour = (ms: number): number => Math.ceil(ms / HOUR_MS) * HOUR_MS;

/** The first of the month, 00:00 UTC. */
export function startOfMonth(ms: number): number {
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** Cuts a window so that everything in it is counted once, and as little as possible of it now. */
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

/** Whether nothing of an hour can change any more. */
export const isSettled = (hourMs: number, nowMs: number): boolean =>
  hourMs + HOUR_MS + LONGEST_SESSION_MS + SETTLED_AFTER_MS <= nowMs;

/** The earliest hour that a session with this id time can have been made in. */
export const firstHourOf = (idTimeMs: number): number => floorHour(idTimeMs - ID_CLOCK_SLACK_MS);

/** The ids that sessions of a span can have, and their codes: from `low` up to, but not, a `high`. */
export interface IdSpan {
  readonly low: Uuid;
  readonly sessionHigh: Uuid;
  readonly messageHigh: Uuid;
}

export function idSpan({ fromMs, toMs }: Span): IdSpan {
  const idAt = (ms: number): Uuid => firstIdAt(Math.max(0, ms));
  // Of nothing there are no ids: nothing is to be looked through for it.
  if (fromMs >= toMs) return { low: idAt(fromMs), sessionHigh: idAt(fromMs), messageHigh: idAt(fromMs) };
  return {
    low: idAt(fromMs - ID_EARLIER_MS),
    sessionHigh: idAt(toMs + ID_CLOCK_SLACK_MS),
    messageHigh: idAt(toMs + LONGEST_SESSION_MS + ID_CLOCK_SLACK_MS),
  };
}
