import type { Mode } from '@countersign/keys';

/** Every time at which a price changes, oldest first. */
const CHANGES = `
  changes AS MATERIALIZED (
    SELECT coalesce(array_agg(at ORDER BY at), '{}')::timestamptz[] AS at
    FROM (SELECT held_from FROM price_spans UNION SELECT held_until FROM price_spans WHERE held_until IS NOT NULL)
      AS moments (at))`;

/**
 * The index of the last price change before a session was created, 0 for none. Sessions are grouped by it and each group is
 * priced once, because a price lookup per session would cost more than the rest of the statement.
 */
const EPOCH = `width_bucket(sessions.created_at, (SELECT at FROM changes)) AS epoch`;

/** The price of a channel in the epoch of a row: the country's own, else the price for all countries, else none. */
const priceOf = (row: string): string => `
  LEFT JOIN LATERAL (
    SELECT usd FROM price_spans AS held CROSS JOIN LATERAL (SELECT at[${row}.epoch] AS moment FROM changes) AS change
    WHERE held.channel = ${row}.channel AND held.country IN (${row}.country, '*')
      AND held.held_from <= moment AND (held.held_until > moment) IS NOT FALSE
    ORDER BY held.country = '*', held.from_at DESC, held.held_until DESC NULLS FIRST LIMIT 1) AS price ON true`;

/** A pending session past `expires_at` counts as expired, as in the rest of the API. */
const STATUS_NOW = `
  CASE WHEN sessions.status = 'pending' AND sessions.expires_at <= statement_timestamp() THEN 'expired'
    ELSE sessions.status END`;

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
    SELECT ${keyedBy('created_at')}, channel, ${STATUS_NOW} AS status, country, ${EPOCH}, test, codes.cost_usd
    FROM sessions LEFT JOIN (
      SELECT session_id, sum(cost_usd) AS cost_usd FROM outbound_messages
      WHERE account_id = $1 AND id >= ${low}::uuid AND id < ${messageHigh}::uuid
        AND submitted_at IS NOT NULL AND NOT test
      GROUP BY session_id) AS codes ON codes.session_id = sessions.id
    WHERE account_id = $1 AND ${OF_MODE[mode]} AND id >= ${low}::uuid AND id < ${sessionHigh}::uuid
      AND created_at >= ${from}::timestamptz AND created_at < ${to}::timestamptz`;
}

const total = (condition: string): string => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)::float8`;

/**
 * Counts and cost of one tenant: folded hours, and the spans before and after them in their current state.
 * One row with the total, and one row for each group if there is a grouping, sorted.
 * $1 account, $2 `day`, `country`, `brand` or null, $3 first folded hour, $4 end of the folded hours, $5–$9 the span
 * before them, $10–$14 the span after them: from, to, lowest id, end of the ids of sessions, end of the ids of codes.
 *
 * The hours are summed before any join. A month of 10 million sessions is 32,000 rows of hours and some 16,000 sessions in
 * the spans.
 */
const readUsage = (mode: Mode): string => `
  WITH ${CHANGES},
  live AS (
    SELECT brand_id, channel, status, country, day, epoch, count(*) AS count, count(*) FILTER (WHERE NOT test) AS billable,
      coalesce(sum(cost_usd), 0) AS codes_usd
    FROM (${sessionsOfSpan(mode, 5)} UNION ALL ${sessionsOfSpan(mode, 10)}) AS each
    GROUP BY brand_id, channel, status, country, day, epoch),
  hours AS (
    SELECT ${keyedBy('hour')}, CASE WHEN $2 = 'country' THEN country END AS country, channel, status, count, cost_usd
    FROM usage_hours WHERE account_id = $1 AND ${OF_MODE[mode]} AND hour >= $3 AND hour < $4),
  counted AS (
    SELECT brand_id, channel, status, country, day, sum(count) AS count, sum(cost_usd) AS cost_usd
    FROM hours GROUP BY brand_id, channel, status, country, day
    UNION ALL
    SELECT brand_id, channel, status, country, day, count, billable * coalesce(usd, 0) + codes_usd
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

/** Database time and the last folded hour. The time is rounded up, so that every earlier session lies before it. */
export const READ_CLOCK = `
  SELECT (extract(epoch FROM date_trunc('milliseconds', clock_timestamp())) * 1000)::float8 + 1 AS "nowMs",
    (extract(epoch FROM (SELECT max(hour) FROM usage_folds)) * 1000)::float8 AS "lastHourMs"`;

/** The session with the lowest id. */
export const FIRST_SESSION = `SELECT id FROM sessions ORDER BY id LIMIT 1`;

/**
 * Folds an hour once: a folded hour is left as it is, and a concurrent transaction waits for the other one and then adds
 * nothing. $1 hour, $2 its end, $3 lowest id, $4 end of the ids of sessions, $5 end of the ids of codes.
 */
export const FOLD_HOUR = `
  WITH ${CHANGES},
  folded AS (INSERT INTO usage_folds (hour) VALUES ($1) ON CONFLICT (hour) DO NOTHING RETURNING hour),
  ended AS (
    SELECT account_id, test, brand_id, channel, CASE status WHEN 'pending' THEN 'expired' ELSE status END AS status, country,
      ${EPOCH}, count(*) AS count, count(*) FILTER (WHERE NOT test) AS billable
    FROM sessions
    WHERE id >= $3::uuid AND id < $4::uuid AND created_at >= $1 AND created_at < $2
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
  counted (account_id, test, brand_id, channel, status, country, count, cost_usd) AS (
    SELECT account_id, test, brand_id, channel, status, country, count, billable * coalesce(usd, 0)
    FROM ended ${priceOf('ended')}
    UNION ALL
    SELECT sessions.account_id, false, sessions.brand_id, 'sms_otp', 'submitted', sessions.country, 1, coalesce(codes.cost_usd, 0)
    FROM outbound_messages AS codes JOIN sessions ON sessions.id = codes.session_id
    WHERE codes.id >= $3::uuid AND codes.id < $5::uuid AND codes.submitted_at IS NOT NULL AND NOT codes.test
      AND sessions.id >= $3::uuid AND sessions.id < $4::uuid AND sessions.created_at >= $1 AND sessions.created_at < $2)
  INSERT INTO usage_hours (account_id, test, hour, brand_id, channel, status, country, count, cost_usd)
  SELECT account_id, test, hour, brand_id, channel, status, country, sum(count), sum(cost_usd)
  FROM folded CROSS JOIN counted GROUP BY account_id, test, hour, brand_id, channel, status, country`;
