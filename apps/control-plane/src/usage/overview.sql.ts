import { IS_OVERDUE } from './overdue.sql.js';
import { TIME_BOUNDS_MS } from './approval-time.js';
import { COUNTED } from './counted-accounts.sql.js';
import { CHANGES, EPOCH, priceOf } from './session-price.sql.js';
import { bucketOf, changesBetween, minutesApart, NO_ROUTE, routeOfApproval } from './usage-changes.sql.js';

const BUCKETS = Array.from({ length: TIME_BOUNDS_MS.length + 1 }, (_, bucket) => bucket);

/**
 * A row for each dimension of a row of counts: all, its country, channel and brand, and the route of a code. Codes are a
 * channel of their own. Sessions have no route.
 */
const DIMENSIONS = `
  CROSS JOIN LATERAL (VALUES ('all', ''), ('country', country), ('channel', channel), ('brand', brand_id::text),
    ('route', CASE WHEN channel = 'sms_otp' AND route_id <> ${NO_ROUTE} THEN route_id::text END)) AS of (dimension, key)`;

/** Groups of codes: what a code approved counts there, and nowhere else. */
const OF_CODES = `(dimension = 'route' OR key = 'sms_otp')`;
const sum = (condition: string): string => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)`;

/** The counts of a dimension. `reached`: the card was delivered or tapped, or the session approved or denied in another way. */
const MEASURES = `
  ${sum(`channel <> 'sms_otp'`)} AS created,
  ${sum(`channel = 'rcs' OR (channel = 'sms_fallback' AND status IN ('approved', 'denied'))`)} AS reached,
  ${sum(`status = 'approved' AND (channel = 'sms_otp') = ${OF_CODES}`)} AS approved,
  ${sum(`channel <> 'sms_otp' AND status = 'denied'`)} AS denied,
  ${sum(`channel <> 'sms_otp' AND status = 'expired'`)} AS expired,
  ${sum(`channel <> 'sms_otp' AND status = 'cancelled'`)} AS cancelled,
  ${sum(`channel = 'sms_otp' AND status = 'submitted'`)} AS codes,
  sum(cost_usd) AS cost_usd`;
const COUNTS = ['created', 'reached', 'approved', 'denied', 'expired', 'cancelled', 'codes'] as const;
const COLUMNS = `${COUNTS.join(', ')}, cost_usd, times`;

/** Adds up the minutes of an hour by dimension, once. $1 hour, $2 its end. */
export const FOLD_OVERVIEW = `
  WITH by_bucket AS (
    SELECT test, dimension, key, bucket, ${MEASURES}
    FROM usage_minutes ${DIMENSIONS}
    WHERE minute >= $1 AND minute < $2 AND key IS NOT NULL
    GROUP BY test, dimension, key, bucket)
  INSERT INTO overview_hours (hour, test, dimension, key, ${COLUMNS})
  SELECT $1, test, dimension, key, ${[...COUNTS, 'cost_usd'].map((column) => `sum(${column})`).join(', ')},
    ARRAY[${BUCKETS.map((bucket) => `coalesce(sum(approved) FILTER (WHERE bucket = ${bucket}), 0)`).join(', ')}]::bigint[]
  FROM by_bucket GROUP BY test, dimension, key
  ON CONFLICT (test, dimension, hour, key) DO NOTHING`;

const SUMS = [...COUNTS, 'cost_usd'].map((column) => `sum(${column})`).join(', ');
const TIMES = `ARRAY[${BUCKETS.map((bucket) => `sum(times[${bucket + 1}])`).join(', ')}]::bigint[]`;

/** Adds up the hours of days, each once. $1 first day, $2 the end of the last. */
export const FOLD_DAYS = `
  INSERT INTO overview_days (test, dimension, hour, key, ${COLUMNS})
  SELECT test, dimension, date_trunc('day', hour), key, ${SUMS}, ${TIMES}
  FROM overview_hours WHERE hour >= $1 AND hour < $2
  GROUP BY test, dimension, date_trunc('day', hour), key
  ON CONFLICT (test, dimension, hour, key) DO NOTHING`;

/** Sessions of a span in their current state, and their codes; as in usage.sql.ts, of all accounts. */
function sessionsOfSpan(first: number): string {
  return `
    SELECT id, brand_id, channel, CASE WHEN ${IS_OVERDUE} THEN 'expired' ELSE status END AS status, country, approved_by, created_at, ended_at, ${EPOCH},
      ${bucketOf('status')} AS bucket, 1 AS count
    FROM sessions WHERE test = $1 AND id >= $${first + 2}::uuid AND id < $${first + 3}::uuid
      AND created_at >= $${first}::timestamptz AND created_at < $${first + 1}::timestamptz AND ${COUNTED}`;
}
const codesOfSpan = (first: number): string => `
  SELECT sessions.brand_id, sessions.country, sessions.created_at, coalesce(codes.route_id, ${NO_ROUTE}) AS route_id,
    coalesce(codes.cost_usd, 0) AS cost_usd
  FROM outbound_messages AS codes JOIN sessions ON sessions.id = codes.session_id
  WHERE NOT $1 AND NOT codes.test AND codes.submitted_at IS NOT NULL
    AND codes.id >= $${first + 2}::uuid AND codes.id < $${first + 4}::uuid
    AND sessions.id >= $${first + 2}::uuid AND sessions.id < $${first + 3}::uuid
    AND sessions.created_at >= $${first}::timestamptz AND sessions.created_at < $${first + 1}::timestamptz
    AND sessions.${COUNTED}`;

const OPEN = {
  fromXid: '$17',
  toXid: '$18',
  from: '$19',
  to: '$20',
  low: '$21',
  sessionHigh: '$22',
  messageHigh: '$23',
};
/** The ids of codes of all spans: partitions are pruned by the spans of their sessions. */
const CODES_FROM = 'least($7::uuid, $12::uuid, $21::uuid)';
const CODES_TO = 'greatest($9::uuid, $14::uuid, $23::uuid)';
const HOUR_OF = (time: string): string => `date_trunc('hour', ${time})`;

/**
 * Counts of all accounts by dimension, hour and bucket of the time to approve: $2 is `all` or the dimension that is read beside
 * it. Hours are read by their dimension, with `times` by bucket; minutes and what is not folded are added up here, `times` null.
 * $1 whether of test keys, $3 and $4 hours, $5–$9 and $10–$14 spans that are counted, $15 and $16 minutes, $17 and $18
 * transactions that are not folded, $19–$23 the open minutes (see READ_USAGE), $24 and $25
 * the days that are read instead of their hours: within them, or empty at their start.
 */
const rowsOf = (grouped: string): string => `
  WITH ${CHANGES}, ${changesBetween(OPEN)},
  overdue AS (
    SELECT id, brand_id, channel, side.status, country, approved_by, created_at, ended_at, ${EPOCH}, 0::smallint, count
    FROM sessions CROSS JOIN (VALUES ('expired', 1), ('pending', -1)) AS side (status, count)
    WHERE ${IS_OVERDUE} AND test = $1 AND id >= ANY (ARRAY[$21]::uuid[]) AND id < ANY (ARRAY[$22]::uuid[])
      AND created_at >= $19::timestamptz AND created_at < $20::timestamptz AND ${COUNTED}),
  live AS MATERIALIZED (
    ${sessionsOfSpan(5)} UNION ALL ${sessionsOfSpan(10)} UNION ALL SELECT * FROM overdue
    UNION ALL SELECT id, brand_id, channel, status, country, CASE WHEN id IS NOT NULL THEN 'otp' END, created_at, ended_at, epoch,
      bucket, count
    FROM moved WHERE test = $1),
  grouped AS (
    SELECT ${HOUR_OF('created_at')} AS hour, brand_id, channel, status, country, bucket, epoch, sum(count) AS count
    FROM live GROUP BY 1, 2, 3, 4, 5, 6, 7),
  facts AS (
    SELECT ${HOUR_OF('minute')} AS hour, brand_id, channel, status, country, route_id, bucket, sum(count) AS count,
      sum(cost_usd) AS cost_usd
    FROM (${minutesApart('test = $1', ['$15', '$16'], ['$3', '$4'])}) AS minutes
    WHERE NOT (minute >= $10 AND minute < $11)
    GROUP BY 1, 2, 3, 4, 5, 6, 7
    UNION ALL
    SELECT hour, brand_id, channel, status, country, ${NO_ROUTE}, bucket, count,
      CASE WHEN $1 THEN 0 ELSE count * coalesce(usd, 0) END
    FROM grouped ${priceOf('grouped')}
    UNION ALL
    SELECT ${HOUR_OF('created_at')}, brand_id, 'sms_otp', status, country, route.route_id, bucket, count, 0
    FROM live CROSS JOIN ${routeOfApproval('live', CODES_FROM, CODES_TO)} AS route
    WHERE status = 'approved' AND approved_by = 'otp' AND NOT $1
    UNION ALL
    SELECT ${HOUR_OF('created_at')}, brand_id, 'sms_otp', 'submitted', country, route_id, 0, 1, cost_usd
    FROM (SELECT brand_id, country, created_at, route_id, cost_usd FROM sent WHERE NOT $1
      UNION ALL ${codesOfSpan(5)} UNION ALL ${codesOfSpan(10)}) AS codes)
  SELECT dimension, ${grouped} AS key, bucket, ${MEASURES}, NULL::bigint[] AS times
  FROM facts ${DIMENSIONS}
  WHERE dimension IN ('all', $2) AND key IS NOT NULL
  GROUP BY 1, 2, 3
  UNION ALL
  SELECT dimension, ${grouped}, 0, ${SUMS}, ${TIMES}
  FROM (
    SELECT * FROM overview_hours
    WHERE test = $1 AND dimension IN ('all', $2) AND hour >= $3 AND hour < $24
    UNION ALL
    SELECT * FROM overview_hours
    WHERE test = $1 AND dimension IN ('all', $2) AND hour >= $25 AND hour < $4
    UNION ALL
    SELECT * FROM overview_days WHERE test = $1 AND dimension IN ('all', $2) AND hour >= $24 AND hour < $25) AS sums
  GROUP BY 1, 2`;

/** The key of a group: of the dimension `all` an hour or a day, if there are groups by time. */
const KEYS = {
  hour: `CASE dimension WHEN 'all' THEN to_char(hour, 'YYYY-MM-DD"T"HH24:00:00.000"Z"') ELSE key END`,
  day: `CASE dimension WHEN 'all' THEN to_char(hour, 'YYYY-MM-DD') ELSE key END`,
  key: 'key',
} as const;

const readOverview = (grouped: string): string => `
  SELECT dimension, key, bucket, ${COUNTS.map((column) => `${column}::float8`).join(', ')}, cost_usd::text AS "costUsd",
    times::float8[] AS times
  FROM (${rowsOf(grouped)}) AS rows`;

export const READ_OVERVIEW: Readonly<Record<keyof typeof KEYS, string>> = {
  hour: readOverview(KEYS.hour),
  day: readOverview(KEYS.day),
  key: readOverview(KEYS.key),
};
