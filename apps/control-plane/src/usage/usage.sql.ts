import type { Mode } from '@countersign/keys';
import { IS_OVERDUE } from './overdue.sql.js';
import { CHANGES, EPOCH, priceOf } from './session-price.sql.js';
import { changesBetween, minutesApart } from './usage-changes.sql.js';

const STATUS_NOW = `CASE WHEN ${IS_OVERDUE} THEN 'expired' ELSE sessions.status END`;

/** Condition on a row's `test` column. */
const OF_MODE: Readonly<Record<Mode, string>> = { live: 'NOT test', test: 'test' };

/** The grouping columns. Null columns for the groupings that the statement does not use, so that they cost nothing. */
const keyedBy = (day: string): string => `
  CASE WHEN $2::text = 'day' THEN ${day}::date END AS day, CASE WHEN $2 = 'brand' THEN brand_id END AS brand_id`;

/**
 * The sessions of a span in their current state, each with the cost of its submitted codes. Parameters from number `first`:
 * from and to, then the ids of IdSpan. The mode is a literal, because test sessions have a separate index.
 */
function sessionsOfSpan(mode: Mode, first: number): string {
  const [from, to, low, sessionHigh, messageHigh] = [0, 1, 2, 3, 4].map((offset) => `$${first + offset}`);
  return `
    SELECT ${keyedBy('created_at')}, channel, ${STATUS_NOW} AS status, country, ${EPOCH}, 1 AS sign, codes.cost_usd
    FROM sessions LEFT JOIN (
      SELECT session_id, sum(cost_usd) AS cost_usd FROM outbound_messages
      WHERE account_id = $1 AND id >= ${low}::uuid AND id < ${messageHigh}::uuid
        AND submitted_at IS NOT NULL AND NOT test
      GROUP BY session_id) AS codes ON codes.session_id = sessions.id
    WHERE account_id = $1 AND ${OF_MODE[mode]} AND id >= ${low}::uuid AND id < ${sessionHigh}::uuid
      AND created_at >= ${from}::timestamptz AND created_at < ${to}::timestamptz`;
}

const OPEN = {
  fromXid: '$22',
  toXid: '$23',
  from: '$24',
  to: '$25',
  low: '$26',
  sessionHigh: '$27',
  messageHigh: '$28',
};

/** Sessions of open minutes that are past `expires_at` and counted as pending there. Sweeps leave few of them. */
const overdue = (mode: Mode): string => `
  SELECT ${keyedBy('created_at')}, channel, side.status, country, 0 AS epoch, sign, 0 AS cost_usd
  FROM sessions CROSS JOIN (VALUES ('expired', 1), ('pending', -1)) AS side (status, sign)
  WHERE ${IS_OVERDUE} AND account_id = $1 AND ${OF_MODE[mode]}
    AND id >= ANY (ARRAY[${OPEN.low}]::uuid[]) AND id < ANY (ARRAY[${OPEN.sessionHigh}]::uuid[])
    AND created_at >= ${OPEN.from}::timestamptz AND created_at < ${OPEN.to}::timestamptz`;

const total = (condition: string): string => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)::float8`;

/** Live sessions have a price, test sessions cost nothing. */
const USD: Readonly<Record<Mode, string>> = { live: 'coalesce(usd, 0)', test: '0' };

/** Folded hours before the days, the days, and the hours after them. */
const DAYS_APART = [
  ['usage_hours', '$3', '$29'],
  ['usage_days', '$29', '$30'],
  ['usage_hours', '$30', '$4'],
] as const;

const foldsOf = (mode: Mode): string =>
  DAYS_APART.map(
    ([table, from, to]) => `
    SELECT * FROM ${table} WHERE account_id = $1 AND ${OF_MODE[mode]} AND hour >= ${from} AND hour < ${to}`,
  ).join(' UNION ALL ');

/**
 * Counts and cost of one tenant: folded hours and minutes, changes of open minutes that are not folded yet, and the sessions
 * of the spans that have no minutes in their current state. One row with the total, and one row for each group if there is a
 * grouping, sorted.
 * $1 account, $2 `day`, `country`, `brand` or null, $3 first folded hour, $4 end of the folded hours, $29 and $30 the days that
 * are read instead of their hours: within them, or empty at their start, $5–$9, $10–$14 and
 * $15–$19 the spans that are counted (of the last there are no minutes, or none that hold): from, to, lowest id, end of the ids of sessions, end of the ids of codes, $20 first
 * minute, $21 end of the minutes, $22 first transaction that is not folded, $23 end of the visible ones, $24–$28 the open
 * minutes, as a span.
 *
 * The folds are summed before any join. A month of one account may have 32,000 rows of hours, and 3,000 with its days.
 */
const readUsage = (mode: Mode): string => `
  WITH ${CHANGES}, ${changesBetween(OPEN)},
  live AS (
    SELECT brand_id, channel, status, country, day, epoch, sum(sign) AS count, coalesce(sum(cost_usd), 0) AS codes_usd
    FROM (${[5, 10, 15].map((first) => sessionsOfSpan(mode, first)).join(' UNION ALL ')}
      UNION ALL ${overdue(mode)}
      UNION ALL SELECT ${keyedBy('created_at')}, channel, status, country, epoch, count, 0
        FROM moved WHERE account_id = $1 AND ${OF_MODE[mode]}) AS each
    GROUP BY brand_id, channel, status, country, day, epoch),
  folds AS (
    SELECT ${keyedBy('hour')}, CASE WHEN $2 = 'country' THEN country END AS country, channel, status, count, cost_usd
    FROM (${foldsOf(mode)}) AS folded
    UNION ALL
    SELECT ${keyedBy('minute')}, CASE WHEN $2 = 'country' THEN country END, channel, status, count, cost_usd
    FROM (${minutesApart(`account_id = $1 AND ${OF_MODE[mode]}`, ['$20', '$21'], ['$3', '$4'])}) AS minutes
    WHERE NOT (minute >= $15 AND minute < $16)
    UNION ALL
    SELECT ${keyedBy('created_at')}, CASE WHEN $2 = 'country' THEN country END, 'sms_otp', 'submitted', 1, cost_usd
    FROM sent WHERE account_id = $1 AND ${mode === 'live'}),
  counted AS (
    SELECT brand_id, channel, status, country, day, sum(count) AS count, sum(cost_usd) AS cost_usd
    FROM folds GROUP BY brand_id, channel, status, country, day
    UNION ALL
    SELECT brand_id, channel, status, country, day, count, count * ${USD[mode]} + codes_usd
    FROM live ${priceOf('live')}),
  keyed AS (
    SELECT CASE $2 WHEN 'day' THEN to_char(day, 'YYYY-MM-DD') WHEN 'country' THEN country
      WHEN 'brand' THEN brand_id::text END AS key, channel, status, count, cost_usd
    FROM counted)
  SELECT grouping(key) = 1 AS "isTotal", key,
    ${total(`channel <> 'sms_otp'`)} AS total,
    ${total(`channel <> 'sms_otp' AND status = 'approved'`)} AS approved,
    ${total(`channel <> 'sms_otp' AND status = 'expired'`)} AS expired,
    ${total(`channel <> 'sms_otp' AND status = 'denied'`)} AS denied,
    ${total(`channel = 'rcs'`)} AS rcs,
    ${total(`channel = 'sms_fallback'`)} AS "smsFallback",
    coalesce(sum(cost_usd), 0)::text AS "costUsd"
  FROM keyed GROUP BY GROUPING SETS ((), (key)) ORDER BY key`;

export const READ_USAGE: Readonly<Record<Mode, string>> = { live: readUsage('live'), test: readUsage('test') };

const msOf = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

/** Later statements of the transaction see what the first one sees. */
export const ONE_SNAPSHOT = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`;

/**
 * Database time, the last folded hour, and the progress of the minutes and of the days. The time is rounded up and read after the snapshot is
 * taken, so that every session that is visible lies before it.
 */
export const READ_CLOCK = `
  SELECT ${msOf(`date_trunc('milliseconds', clock_timestamp())`)} + 1 AS "nowMs",
    ${msOf('(SELECT max(hour) FROM usage_folds)')} AS "lastHourMs", ${msOf('minutes_from')} AS "minutesFromMs",
    ${msOf('settled_until')} AS "settledUntilMs", ${msOf('open_from')} AS "openFromMs", folded_xid::float8 AS "foldedXid",
    ${msOf('days_until')} AS "daysUntilMs", pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS "endXid"
  FROM (SELECT) AS always LEFT JOIN usage_progress ON true`;
