import { bucketOf, changesBetween, NO_ROUTE, routeOfApproval } from './usage-changes.sql.js';
import { COUNTED } from './counted-accounts.sql.js';
import { CHANGES, EPOCH, priceOf } from './session-price.sql.js';

const MINUTE = `date_trunc('minute', created_at)`;
const KEY = 'account_id, test, minute, brand_id, channel, status, country, route_id, bucket';

/** Transactions of one fold: so many of 64 commands each are read in about a second. Fewer after a failure. */
export const MAX_XIDS = 1_000;
/** From here on the changes are not folded one after the other: their sessions are counted until their minutes are settled. */
export const MAX_XIDS_BEHIND = 1_000_000;

/** The session with the lowest id. */
export const FIRST_SESSION = `SELECT id FROM sessions ORDER BY id LIMIT 1`;

/** Lowest transaction that may not have ended, and the first minute in which no session was created before it. */
const FENCE = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid,
    date_trunc('minute', clock_timestamp()) + interval '1 minute' AS open_from`;

/** Begins folding, once: hours that are folded stay as they are. $1 the first hour with sessions. */
export const BEGIN = `
  INSERT INTO usage_progress (minutes_from, settled_until, open_from, folded_xid)
  SELECT first, first, open_from, xid
  FROM (${FENCE}) AS fence,
    (SELECT coalesce((SELECT max(hour) + interval '1 hour' FROM usage_folds), $1::timestamptz) AS first) AS begun
  ON CONFLICT (only_row) DO NOTHING`;

/** Locks the progress for one process. No row while another process has it. Days begin with the first folded hour. */
export const LOCK_PROGRESS = `
  SELECT (extract(epoch FROM settled_until) * 1000)::float8 AS "settledUntilMs",
    (extract(epoch FROM open_from) * 1000)::float8 AS "openFromMs", folded_xid::float8 AS "foldedXid",
    (extract(epoch FROM coalesce(days_until, (SELECT date_trunc('day', min(hour), 'UTC') FROM usage_folds))) * 1000)::float8
      AS "daysUntilMs",
    floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"
  FROM usage_progress FOR UPDATE SKIP LOCKED`;

/** Lowest transaction that may not have ended, and the time, not before any visible session. */
export const READ_FENCE = `
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text::float8 AS xid,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/**
 * Adds to the open minutes what transactions changed, all of which have ended. $1 first transaction, $2 end of the
 * transactions, $3 start of the open minutes, $4 end of time, $5 lowest id, $6 end of the ids of sessions, $7 end of the
 * ids of codes. Together with MARK_FOLDED in one transaction it adds each change once.
 */
export const FOLD_CHANGES = `
  WITH ${CHANGES}, ${changesBetween({
    fromXid: '$1',
    toXid: '$2',
    from: '$3',
    to: '$4',
    low: '$5',
    sessionHigh: '$6',
    messageHigh: '$7',
  })},
  grouped AS (
    SELECT account_id, test, created_at AS minute, brand_id, channel, status, country, bucket, epoch, sum(count) AS count
    FROM moved GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9),
  counted (${KEY}, count, cost_usd) AS (
    SELECT account_id, test, minute, brand_id, channel, status, country, ${NO_ROUTE}, bucket, count,
      CASE WHEN test THEN 0 ELSE count * coalesce(usd, 0) END
    FROM grouped ${priceOf('grouped')}
    UNION ALL
    SELECT account_id, test, created_at, brand_id, 'sms_otp', status, country, route.route_id, bucket, count, 0
    FROM moved CROSS JOIN ${routeOfApproval('moved', '$5', '$7')} AS route
    WHERE status = 'approved' AND moved.id IS NOT NULL AND NOT test
    UNION ALL
    SELECT account_id, false, ${MINUTE}, brand_id, 'sms_otp', 'submitted', country, route_id, 0, 1, cost_usd FROM sent)
  INSERT INTO usage_minutes (${KEY}, count, cost_usd)
  SELECT ${KEY}, sum(count), sum(cost_usd) FROM counted GROUP BY ${KEY} HAVING sum(count) <> 0 OR sum(cost_usd) <> 0
  ON CONFLICT (${KEY}) DO UPDATE SET count = usage_minutes.count + excluded.count,
    cost_usd = usage_minutes.cost_usd + excluded.cost_usd`;

/** $1 end of the folded transactions. */
export const MARK_FOLDED = `UPDATE usage_progress SET folded_xid = $1::bigint`;

/** Discards the open minutes and begins them anew: their sessions are counted one by one until they are settled. */
export const DISCARD_OPEN = `DELETE FROM usage_minutes WHERE minute >= $1`;
export const BEGIN_AGAIN = `
  UPDATE usage_progress SET folded_xid = fence.xid, open_from = fence.open_from FROM (${FENCE}) AS fence`;

/** $1 from, $2 to. */
export const DISCARD_MINUTES = `DELETE FROM usage_minutes WHERE minute >= $1 AND minute < $2`;

/**
 * Counts the sessions of settled minutes as they have ended. $1 from, $2 to, $3 lowest id, $4 end of the ids of sessions, $5
 * end of the ids of codes.
 */
export const COUNT_MINUTES = `
  WITH ${CHANGES},
  ended AS MATERIALIZED (
    SELECT account_id, test, ${MINUTE} AS minute, brand_id, channel,
      CASE status WHEN 'pending' THEN 'expired' ELSE status END AS status, country, ${bucketOf('status')} AS bucket, ${EPOCH},
      count(*) AS count
    FROM sessions
    WHERE id >= $3::uuid AND id < $4::uuid AND created_at >= $1 AND created_at < $2 AND ${COUNTED}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9),
  by_code AS (
    SELECT account_id, ${MINUTE} AS minute, brand_id, country, route.route_id, ${bucketOf('status')} AS bucket
    FROM sessions CROSS JOIN ${routeOfApproval('sessions', '$3', '$5')} AS route
    WHERE id >= $3::uuid AND id < $4::uuid AND created_at >= $1 AND created_at < $2 AND approved_by = 'otp' AND NOT test
      AND ${COUNTED}),
  counted (${KEY}, count, cost_usd) AS (
    SELECT account_id, test, minute, brand_id, channel, status, country, ${NO_ROUTE}, bucket, count,
      CASE WHEN test THEN 0 ELSE count * coalesce(usd, 0) END
    FROM ended ${priceOf('ended')}
    UNION ALL
    SELECT account_id, false, minute, brand_id, 'sms_otp', 'approved', country, route_id, bucket, 1, 0 FROM by_code
    UNION ALL
    SELECT sessions.account_id, false, date_trunc('minute', sessions.created_at), sessions.brand_id, 'sms_otp', 'submitted',
      sessions.country, coalesce(codes.route_id, ${NO_ROUTE}), 0, 1, coalesce(codes.cost_usd, 0)
    FROM outbound_messages AS codes JOIN sessions ON sessions.id = codes.session_id
    WHERE codes.id >= $3::uuid AND codes.id < $5::uuid AND codes.submitted_at IS NOT NULL AND NOT codes.test
      AND sessions.id >= $3::uuid AND sessions.id < $4::uuid AND sessions.created_at >= $1 AND sessions.created_at < $2
      AND sessions.${COUNTED})
  INSERT INTO usage_minutes (${KEY}, count, cost_usd)
  SELECT ${KEY}, sum(count), sum(cost_usd) FROM counted GROUP BY ${KEY}`;

/** $1 end of the settled minutes. */
export const MARK_SETTLED = `UPDATE usage_progress SET settled_until = $1`;

/**
 * Adds up the minutes of an hour, once: a release before minutes may have folded the hour. $1 hour, $2 its end. Times to
 * approve and routes are left out; approvals by code are of their session's channel.
 */
export const FOLD_HOUR = `
  WITH folded AS (INSERT INTO usage_folds (hour) VALUES ($1) ON CONFLICT (hour) DO NOTHING RETURNING hour)
  INSERT INTO usage_hours (account_id, test, hour, brand_id, channel, status, country, count, cost_usd)
  SELECT account_id, test, hour, brand_id, channel, status, country, sum(count), sum(cost_usd)
  FROM folded CROSS JOIN usage_minutes
  WHERE minute >= $1 AND minute < $2 AND NOT (channel = 'sms_otp' AND status = 'approved')
  GROUP BY account_id, test, hour, brand_id, channel, status, country`;

/** Adds up the hours of days, each once. $1 first day, $2 the end of the last. */
export const FOLD_USAGE_DAYS = `
  INSERT INTO usage_days (account_id, test, hour, brand_id, channel, status, country, count, cost_usd)
  SELECT account_id, test, date_trunc('day', hour, 'UTC'), brand_id, channel, status, country, sum(count), sum(cost_usd)
  FROM usage_hours WHERE hour >= $1 AND hour < $2
  GROUP BY 1, 2, 3, 4, 5, 6, 7
  ON CONFLICT DO NOTHING`;

/** $1 end of the days that are added up. */
export const MARK_DAYS = `UPDATE usage_progress SET days_until = $1`;

/** Deletes minutes that are older than retention. $1 their end, the start of an hour. */
export const DROP_MINUTES = `DELETE FROM usage_minutes WHERE minute < $1`;
export const MARK_DROPPED = `UPDATE usage_progress SET minutes_from = greatest(minutes_from, $1)`;
