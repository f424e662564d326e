/** Countries that an account sends codes to. $1 account. */
export const READ_COUNTRIES = `SELECT otp_countries AS countries FROM accounts WHERE id = $1`;

/**
 * Counts one send in each of some windows, which begin with their first send, and gives the counts with it. Counters are
 * locked in the order of their keys, until the transaction ends: two sends never wait for each other in a circle, and
 * nobody counts past a limit. $1 scopes, $2 subjects, $3 seconds of the windows, $4 now.
 */
export const COUNT_SEND = `
  INSERT INTO otp_counters AS counter (scope, subject, started_at, ends_at, sends)
  SELECT scope, subject, $4::timestamptz, $4::timestamptz + make_interval(secs => seconds), 1
  FROM unnest($1::text[], $2::text[], $3::integer[]) AS counted (scope, subject, seconds) ORDER BY scope, subject
  ON CONFLICT (scope, subject) DO UPDATE SET
    started_at = CASE WHEN counter.ends_at <= excluded.started_at THEN excluded.started_at ELSE counter.started_at END,
    ends_at = CASE WHEN counter.ends_at <= excluded.started_at THEN excluded.ends_at ELSE counter.ends_at END,
    sends = CASE WHEN counter.ends_at <= excluded.started_at THEN 1 ELSE counter.sends + 1 END
  RETURNING scope, sends, ends_at AS "endsAt"`;

/**
 * What became of the codes of one account to one block of numbers. Exact only behind the lock of the block's counter:
 * this statement then sees every send that was counted before. $1 account, $2 block, $3 lowest message id
 * of interest, $4 first id that cannot exist yet, $5 lowest session id of interest, $6 since when a message is of the last hour, $7 since when it is recent.
 *
 * Bounds are an ANY of one, as in the statements of sessions: they prune partitions, and the planner does not take them
 * for a narrow range of a day that it has no statistics of. Sessions are looked up one by one for the same reason.
 */
export const READ_CONVERSION = `
  SELECT count(*) FILTER (WHERE NOT approved)::int AS unconverted,
    count(*) FILTER (WHERE created_at > $7)::int AS recent,
    count(*) FILTER (WHERE created_at > $7 AND approved)::int AS "recentApproved"
  FROM (SELECT created_at, coalesce((SELECT sessions.status = 'approved' FROM sessions
      WHERE sessions.id = messages.session_id AND sessions.id >= ANY (ARRAY[$5]::uuid[])
        AND sessions.id < ANY (ARRAY[$4]::uuid[])), false) AS approved
    FROM outbound_messages AS messages
    WHERE account_id = $1 AND destination_prefix = $2 AND NOT test AND created_at > $6
      AND id >= ANY (ARRAY[$3]::uuid[]) AND id < ANY (ARRAY[$4]::uuid[])) AS sent`;

/**
 * Adds the price of one code, as of now, to what the account spent today (UTC), and tells whether that is within its
 * cap: a cap that is used up, one of nothing too, lets through nothing at all. The row of the day is locked until the
 * transaction ends. $1 account, $2 country, $3 now.
 */
export const ADD_SPEND = `
  WITH send AS (
    SELECT otp_daily_spend_cap_usd AS cap, coalesce((SELECT usd FROM prices
      WHERE channel = 'sms_otp' AND country IN ($2, '*') AND from_at <= $3
      ORDER BY country = '*', from_at DESC LIMIT 1), 0) AS price
    FROM accounts WHERE id = $1),
  written AS (
    INSERT INTO otp_spend AS spent (account_id, day, usd)
    SELECT $1, ($3::timestamptz AT TIME ZONE 'UTC')::date, price FROM send
    ON CONFLICT (account_id, day) DO UPDATE SET usd = spent.usd + excluded.usd
    RETURNING usd)
  SELECT cap IS NULL OR (usd <= cap AND usd - price < cap) AS "withinSpendCap" FROM send, written`;

/**
 * Forgets counters whose window is over, passing over those that a send is counted in: it holds several, in an order of
 * its own. $1 how many at most.
 */
export const PURGE_COUNTERS = `
  DELETE FROM otp_counters WHERE (scope, subject) IN (
    SELECT scope, subject FROM otp_counters WHERE ends_at < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** What was spent on days that are no longer kept: a row per account and day. $1 the first moment that is kept. */
export const PURGE_SPEND = `DELETE FROM otp_spend WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date`;
