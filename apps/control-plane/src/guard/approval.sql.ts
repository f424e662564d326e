/**
 * Approved live sessions, with whether a code was sent. Test sessions are not counted. Gateways write the end of a session:
 * one before its creation, or later than now, is not believed. $1 ids, $2 and $3 their bounds.
 */
export const READ_APPROVED = `
  SELECT id, account_id AS "accountId", phone, country,
    least(greatest(ended_at, created_at), date_trunc('milliseconds', clock_timestamp())) AS at, otp_sends > 0 AS "withCode" FROM sessions
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND status = 'approved' AND NOT test`;

/**
 * The codes that some sessions sent, of each session once: a gateway can write the event of an approval again. The sessions
 * are remembered for longer than a window of the budget (a day) counts their codes. Bounds are arrays of one element, as in the statements of sessions: partitions are
 * pruned, and the planner does not estimate a narrow range on a day for which it has no statistics.
 * $1 sessions, $2 lowest message id of interest, $3 first id that cannot exist yet.
 */
export const SETTLE_SENT_CODES = `
  WITH settled AS (
    INSERT INTO otp_settled (session_id, until)
    SELECT DISTINCT session_id, clock_timestamp() + interval '3 days' FROM unnest($1::uuid[]) AS approved (session_id)
    ORDER BY session_id
    ON CONFLICT (session_id) DO NOTHING RETURNING session_id)
  SELECT account_id AS "accountId", country, destination_prefix AS block, created_at AS at FROM outbound_messages
  WHERE session_id = ANY ($1::uuid[]) AND id >= ANY (ARRAY[$2]::uuid[]) AND id < ANY (ARRAY[$3]::uuid[]) AND NOT test
    AND session_id IN (SELECT session_id FROM settled)`;

/**
 * Records that phones approved on a day. Returns the phones for which it is the first approval of that day: they get
 * credits. Locks the rows of all of them in the order of their keys. $1 accounts, $2 digests of phones in the same order,
 * without repeats, $3 the day, $4 the versions of the master key that made the digests.
 */
export const CREDIT_PHONES = `
  INSERT INTO otp_phones AS known (account_id, phone, credited_on, digest_version)
  SELECT account_id, phone, $3::date, version
  FROM unnest($1::uuid[], $2::bytea[], $4::smallint[]) AS approved (account_id, phone, version)
  ORDER BY account_id, phone
  ON CONFLICT (account_id, phone) DO UPDATE SET credited_on = excluded.credited_on
  WHERE known.credited_on < excluded.credited_on
  RETURNING account_id AS "accountId", phone`;

/**
 * Records that phones, whose rows are locked, approved a session with a code on a day. Returns the phones for which it is
 * the first of that day. $1 accounts, $2 digests of phones in the same order, $3 the day.
 */
export const CONVERT_PHONES = `
  UPDATE otp_phones SET converted_on = $3::date
  FROM unnest($1::uuid[], $2::bytea[]) AS approved (account_id, phone)
  WHERE otp_phones.account_id = approved.account_id AND otp_phones.phone = approved.phone
    AND (converted_on IS NULL OR converted_on < $3::date)
  RETURNING otp_phones.account_id AS "accountId", otp_phones.phone`;

/**
 * Deletes the locked rows of phones under other versions of the master key than the current one, after merging them into
 * the current row. $1 accounts, $2 current and $3 other digests of the phones, in the same order.
 */
export const FOLD_PHONES = `
  WITH folded AS (
    DELETE FROM otp_phones USING unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS known (account_id, phone, other)
    WHERE otp_phones.account_id = known.account_id AND otp_phones.phone = known.other
    RETURNING known.account_id, known.phone, otp_phones.converted_on
  )
  UPDATE otp_phones SET converted_on = greatest(otp_phones.converted_on, latest.converted_on)
  FROM (SELECT account_id, phone, max(converted_on) AS converted_on FROM folded GROUP BY account_id, phone) AS latest
  WHERE otp_phones.account_id = latest.account_id AND otp_phones.phone = latest.phone`;

/**
 * Adds settled sends and approvals to slots. $1 accounts, $2 scopes, $3 slots, $4 until when each row is kept, $5 settled
 * sends, $6 approvals, in the same order.
 */
export const ADD_APPROVALS = `
  INSERT INTO otp_approvals AS known (account_id, scope, slot, until, settled, approvals)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::integer[], $6::integer[])
    AS counted (account_id, scope, slot, until, settled, approvals) ORDER BY account_id, scope, slot
  ON CONFLICT (account_id, scope, slot) DO UPDATE SET settled = known.settled + excluded.settled,
    approvals = known.approvals + excluded.approvals`;

/** Deletes slots that no window reaches any more. $1 how many at most. */
export const PURGE_APPROVALS = `
  DELETE FROM otp_approvals WHERE (account_id, scope, slot) IN (
    SELECT account_id, scope, slot FROM otp_approvals WHERE until < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** Deletes sessions whose codes no window reaches any more. $1 how many at most. */
export const PURGE_SETTLED = `
  DELETE FROM otp_settled WHERE session_id IN (
    SELECT session_id FROM otp_settled WHERE until < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

/** Deletes phones whose last approval was before a day. $1 the first day that counts, $2 how many at most. */
export const PURGE_PHONES = `
  DELETE FROM otp_phones WHERE (account_id, phone) IN (
    SELECT account_id, phone FROM otp_phones WHERE credited_on < $1::date LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING 1`;
