/** Send limits of accounts; amounts in millionths. $1 accounts. */
export const READ_ACCOUNTS = `
  SELECT id, otp_countries AS countries, otp_unconverted_floor AS floor, otp_daily_message_cap AS "messageCap",
    trunc(otp_daily_spend_cap_usd * 1000000)::text AS "spendCap"
  FROM accounts WHERE id = ANY ($1::uuid[])`;

/**
 * Locks counters until the transaction ends, in the order of their keys so that sends cannot deadlock, and returns their
 * values. An expired window restarts. The locks make every limit exact.
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

/** The counters whose window is not over, without a lock. $1 scopes, $2 subjects, in the same order, $3 now. */
export const READ_COUNTERS = `
  SELECT counter.scope, counter.subject, counter.sends, counter.ends_at AS "endsAt"
  FROM unnest($1::text[], $2::text[]) AS wanted (scope, subject)
    JOIN otp_counters AS counter ON counter.scope = wanted.scope AND counter.subject = wanted.subject
  WHERE counter.ends_at > $3`;

/** Writes the new values of locked counters. $1 scopes, $2 subjects, $3 sends. */
export const WRITE_COUNTERS = `
  UPDATE otp_counters SET sends = counted.sends
  FROM unnest($1::text[], $2::text[], $3::integer[]) AS counted (scope, subject, sends)
  WHERE otp_counters.scope = counted.scope AND otp_counters.subject = counted.subject`;

/** Deletes locked counters without sends, because a window begins with its first send. $1 scopes, $2 subjects. */
export const DROP_COUNTERS = `
  DELETE FROM otp_counters USING unnest($1::text[], $2::text[]) AS empty (scope, subject)
  WHERE otp_counters.scope = empty.scope AND otp_counters.subject = empty.subject`;

/**
 * Sums of some windows. Reads at most 61 rows of each table for slots of a minute, 14 for slots of five minutes, one for
 * a day, independent of the number of sends. Exact only after the account's counter is locked: the statement then sees
 * every send counted before. Approvals may be counted later, which only makes the sums stricter.
 * $1 accounts, $2 scopes, $3 first slots of sends, $4 first slots of approvals, in the same order.
 */
export const READ_WINDOWS = `
  SELECT wanted.account AS "accountId", wanted.scope, sent.sends, folded.settled, folded.approvals
  FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[])
      AS wanted (account, scope, sends_from, approvals_from),
    LATERAL (SELECT coalesce(sum(sends), 0)::int AS sends FROM otp_sends
      WHERE account_id = wanted.account AND otp_sends.scope = wanted.scope AND slot >= wanted.sends_from) AS sent,
    LATERAL (SELECT coalesce(sum(settled), 0)::int AS settled,
        coalesce(sum(approvals) FILTER (WHERE slot >= wanted.approvals_from), 0)::int AS approvals FROM otp_approvals
      WHERE account_id = wanted.account AND otp_approvals.scope = wanted.scope AND slot >= wanted.sends_from) AS folded`;

/** Adds sends to slots. $1 accounts, $2 scopes, $3 slots, $4 until when each row is kept, $5 sends, in the same order. */
export const ADD_SENDS = `
  INSERT INTO otp_sends AS known (account_id, scope, slot, until, sends)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::integer[])
    AS counted (account_id, scope, slot, until, sends) ORDER BY account_id, scope, slot
  ON CONFLICT (account_id, scope, slot) DO UPDATE SET sends = known.sends + excluded.sends`;

/**
 * Phones that approved a session of the account lately. $1 accounts, $2 digests of phones in the same order, $3 the first
 * day that counts.
 */
export const READ_KNOWN_PHONES = `
  SELECT account_id AS "accountId", phone
  FROM unnest($1::uuid[], $2::bytea[]) AS wanted (account, digest),
    LATERAL (SELECT account_id, phone FROM otp_phones
      WHERE account_id = wanted.account AND phone = wanted.digest AND credited_on >= $3::date) AS known`;

/** Amounts that accounts spent on codes today (UTC), in millionths. $1 accounts, $2 now. */
export const READ_SPENT = `
  SELECT account_id AS id, trunc(usd * 1000000)::text AS spent FROM otp_spend
  WHERE account_id = ANY ($1::uuid[]) AND day = ($2::timestamptz AT TIME ZONE 'UTC')::date`;

/**
 * The price of one code to each of some countries, in millionths: the country's own, else that of all, else null.
 * $1 countries, $2 now.
 */
export const READ_PRICES = `
  SELECT wanted AS country, trunc((SELECT usd FROM prices
    WHERE channel = 'sms_otp' AND country IN (wanted, '*') AND from_at <= $2
    ORDER BY country = '*', from_at DESC LIMIT 1) * 1000000)::text AS price
  FROM unnest($1::text[]) AS wanted`;

/** Adds amounts to the spending of accounts today (UTC). $1 accounts, $2 millionths, $3 now. */
export const ADD_SPEND = `
  INSERT INTO otp_spend AS spent (account_id, day, usd)
  SELECT account, ($3::timestamptz AT TIME ZONE 'UTC')::date, micros / 1000000
  FROM unnest($1::uuid[], $2::numeric[]) AS paid (account, micros) ORDER BY account
  ON CONFLICT (account_id, day) DO UPDATE SET usd = spent.usd + excluded.usd`;

/**
 * Deletes counters whose window is over. Skips locked counters: a send locks several in another order, so waiting could
 * deadlock. $1 how many at most.
 */
export const PURGE_COUNTERS = `
  DELETE FROM otp_counters WHERE (scope, subject) IN (
    SELECT scope, subject FROM otp_counters WHERE ends_at < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** Deletes slots that no window reaches any more. $1 how many at most. */
export const PURGE_SENDS = `
  DELETE FROM otp_sends WHERE (account_id, scope, slot) IN (
    SELECT account_id, scope, slot FROM otp_sends WHERE until < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** Deletes the spending of expired days, one row per account and day. $1 the start of retention. */
export const PURGE_SPEND = `DELETE FROM otp_spend WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date`;
