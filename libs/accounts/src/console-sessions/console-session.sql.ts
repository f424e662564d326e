const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** The holder of the row `s`: $1 member, $2 admin key, both null for the key of the environment. */
const OF_HOLDER = `s.member_id IS NOT DISTINCT FROM $1::uuid AND s.admin_key_id IS NOT DISTINCT FROM $2::uuid`;

/** Whether the API key `c` confirms sessions of the member `m`. A rotated key has another digest. */
const CONFIRMS = `c.account_id = m.account_id AND c.kind = 'live' AND c.revoked_at IS NULL`;

/**
 * Valid sessions: not expired, of an active member or of an admin key that has neither been revoked nor rotated since.
 * $1 digests of the key of the environment.
 */
const VALID_SESSIONS = `
  SELECT s.id, s.method, s.member_id AS "memberId", s.admin_key_id AS "adminKeyId",
    coalesce(m.name, k.name, 'root') AS name, coalesce(m.role, k.role, 'owner') AS role, m.account_id AS "accountId",
    s.client_address AS "clientAddress", s.user_agent AS "userAgent", s.created_at AS "createdAt",
    s.last_used_at AS "lastUsedAt", s.expires_at AS "expiresAt", s.confirmed_until AS "confirmedUntil",
    c.scopes AS "confirmedScopes", c.limits AS "confirmedLimits", lender.limits AS "confirmedLimitsOfQuota"
  FROM console_sessions s
  LEFT JOIN members m ON m.id = s.member_id
  LEFT JOIN accounts a ON a.id = m.account_id
  LEFT JOIN admin_keys k ON k.id = s.admin_key_id
  LEFT JOIN api_keys c ON c.digest = s.confirmed_by AND s.confirmed_until > ${NOW} AND ${CONFIRMS}
  LEFT JOIN api_keys lender ON lender.id = c.quota_id
  WHERE s.expires_at > ${NOW} AND CASE
    WHEN s.member_id IS NOT NULL THEN m.active AND (m.account_id IS NULL OR a.active)
    WHEN s.admin_key_id IS NOT NULL THEN k.revoked_at IS NULL AND k.digest = ANY (s.key_digests)
    ELSE s.key_digests && $1::bytea[] END`;

/** $2 digests of a cookie under each version of the master key. */
export const FIND_SESSION = `${VALID_SESSIONS} AND s.digest = ANY ($2::bytea[])`;

/** One session. $2 id. */
export const GET_SESSION = `${VALID_SESSIONS} AND s.id = $2`;

/** A session stays until the transaction ends, and so does its confirmation. $1 id. */
export const HOLD_SESSION = `SELECT id FROM console_sessions WHERE id = $1 FOR SHARE`;

/** The API key that has confirmed a session stays as it is until the transaction ends. $1 id of the session. */
export const HOLD_CONFIRMING_KEY = `
  SELECT id FROM api_keys WHERE digest = (SELECT confirmed_by FROM console_sessions WHERE id = $1) FOR SHARE`;

/** The valid ones of some sessions. $2 ids. */
export const FIND_LIVE_SESSIONS = `${VALID_SESSIONS} AND s.id = ANY ($2::uuid[])`;

/** Sessions, newest first. $2 limit, $3 older than this id or null, $4 of every holder, $5 member, $6 admin key. */
export const LIST_SESSIONS = `${VALID_SESSIONS}
  AND ($3::uuid IS NULL OR s.id < $3)
  AND ($4 OR s.member_id IS NOT DISTINCT FROM $5::uuid AND s.admin_key_id IS NOT DISTINCT FROM $6::uuid)
  ORDER BY s.id DESC LIMIT $2`;

/**
 * $1 id, $2 digest, $3 member, $4 admin key, $5 digests of the admin key, $6 method, $7 client address, $8 user agent,
 * $9 seconds.
 */
export const INSERT_SESSION = `
  INSERT INTO console_sessions (id, digest, member_id, admin_key_id, key_digests, method, client_address, user_agent,
    created_at, last_used_at, expires_at)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, now, now, now + make_interval(secs => $9) FROM (SELECT ${NOW} AS now) AS clock`;

/** Records the sign-in of a member. $1 id. */
export const RECORD_SIGN_IN = `UPDATE members SET last_sign_in_at = ${NOW} WHERE id = $1`;

/** Deletes the sessions of a holder beyond the newest $3, and returns their ids. */
export const DELETE_SURPLUS = `
  DELETE FROM console_sessions WHERE id IN (
    SELECT id FROM console_sessions s WHERE ${OF_HOLDER} ORDER BY id DESC OFFSET $3)
  RETURNING id`;

/** Deletes up to $1 expired sessions. */
export const DELETE_EXPIRED = `
  DELETE FROM console_sessions WHERE id IN (
    SELECT id FROM console_sessions WHERE expires_at < ${NOW} ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`;

/** $1 id. */
export const RECORD_USE = `UPDATE console_sessions SET last_used_at = ${NOW} WHERE id = $1`;

/** $1 id. */
export const DELETE_SESSION = `DELETE FROM console_sessions WHERE id = $1`;

/** $1 ids. */
export const DELETE_SESSIONS = `DELETE FROM console_sessions WHERE id = ANY ($1::uuid[]) RETURNING id`;

/**
 * Confirms a session with an API key of the member's account. Returns the id of the key; no row for any other key. $1 session,
 * $2 digests of the key under each version of the master key, $3 seconds.
 */
export const CONFIRM_SESSION = `
  UPDATE console_sessions s SET confirmed_by = c.digest, confirmed_until = ${NOW} + make_interval(secs => $3)
  FROM members m, api_keys c
  WHERE s.id = $1 AND m.id = s.member_id AND c.digest = ANY ($2::bytea[]) AND ${CONFIRMS}
  RETURNING c.id AS "keyId"`;
