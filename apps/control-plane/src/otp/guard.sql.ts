/** Countries that an account sends codes to. $1 account. */
export const READ_COUNTRIES = `SELECT otp_countries AS countries FROM accounts WHERE id = $1`;

/**
 * Locks counters in the order of their keys, until the transaction ends, and gives what they hold; a window that is over
 * begins anew. Two sends never wait for each other in a circle, and nobody counts past a limit.
 * $1 scopes, $2 subjects, $3 seconds of the windows, $4 now.
 */
export const LOCK_COUNTERS = `
  INSERT INTO otp_counters AS counter (scope, subject, started_at, ends_at, sends)
  SELECT scope, subject, $4::timestamptz, $4::timestamptz + make_interval(secs => seconds), 0
  FROM unnest($1::text[], $2::text[], $3::integer[]) AS wanted (scope, subject, seconds) ORDER BY scope, subject
  ON CONFLICT (scope, subject) DO UPDATE SET
    started_at = CASE WHEN counter.ends_at <= excluded.started_at THEN excluded.started_at ELSE counter.started_at END,
    ends_at = CASE WHEN counter.ends_at <= excluded.started_at THEN excluded.ends_at ELSE counter.ends_at END,
    sends = CASE WHEN counter.ends_at <= excluded.started_at THEN 0 ELSE counter.sends END
  RETURNING scope, subject, sends, ends_at AS "endsAt"`;

/** Writes what locked counters hold now. $1 scopes, $2 subjects, $3 sends. */
export const WRITE_COUNTERS = `
  UPDATE otp_counters SET sends = counted.sends
  FROM unnest($1::text[], $2::text[], $3::integer[]) AS counted (scope, subject, sends)
  WHERE otp_counters.scope = counted.scope AND otp_counters.subject = counted.subject`;

/** Takes back locked counters in which nothing was counted: a window begins with a send. $1 scopes, $2 subjects. */
export const DROP_COUNTERS = `
  DELETE FROM otp_counters USING unnest($1::text[], $2::text[]) AS empty (scope, subject)
  WHERE otp_counters.scope = empty.scope AND otp_counters.subject = empty.subject`;

/**
 * What became of the codes of one account to one block of numbers. Exact only behind the lock of the account's counter:
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

/** What accounts may spend on codes in a day, and have spent today (UTC), in millionths. $1 accounts, $2 now. */
export const READ_SPEND = `
  SELECT id, trunc(otp_daily_spend_cap_usd * 1000000)::text AS cap, trunc(coalesce(usd, 0) * 1000000)::text AS spent
  FROM accounts LEFT JOIN otp_spend ON account_id = id AND day = ($2::timestamptz AT TIME ZONE 'UTC')::date
  WHERE id = ANY ($1::uuid[])`;

/** The price of one code to each of some countries, in millionths: the country's own, else that of all, else nothing. $1 countries, $2 now. */
export const READ_PRICES = `
  SELECT wanted AS country, trunc(coalesce((SELECT usd FROM prices
    WHERE channel = 'sms_otp' AND country IN (wanted, '*') AND from_at <= $2
    ORDER BY country = '*', from_at DESC LIMIT 1), 0) * 1000000)::text AS price
  FROM unnest($1::text[]) AS wanted`;

/** Adds to what accounts spent today (UTC). $1 accounts, $2 millionths, $3 now. */
export const ADD_SPEND = `
  INSERT INTO otp_spend AS spent (account_id, day, usd)
  SELECT account, ($3::timestamptz AT TIME ZONE 'UTC')::date, micros / 1000000
  FROM unnest($1::uuid[], $2::numeric[]) AS paid (account, micros) ORDER BY account
  ON CONFLICT (account_id, day) DO UPDATE SET usd = spent.usd + excluded.usd`;

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
