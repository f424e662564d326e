const NOW = `date_trunc('milliseconds', clock_timestamp())`;

const LIVE = `kind = 'phone' AND expires_at > ${NOW}`;
const OF_TOKEN = `digest = ANY ($1::bytea[]) AND ${LIVE}`;
const FIELDS = `session_id AS "sessionId", expires_at AS "expiresAt"`;

/**
 * Begins a sign-in, of the active member of an active account with the phone $2, or of nobody. $1 digest, $3 session,
 * $4 seconds.
 */
export const BEGIN_PHONE_SIGN_IN = `
  INSERT INTO console_sign_ins (digest, kind, member_id, session_id, expires_at)
  VALUES ($1, 'phone', (
    SELECT m.id FROM members m JOIN accounts a ON a.id = m.account_id WHERE m.phone = $2 AND m.active AND a.active
  ), $3, ${NOW} + make_interval(secs => $4))`;

/** $1 digests of the token. */
export const FIND_PHONE_SIGN_IN = `SELECT ${FIELDS} FROM console_sign_ins WHERE ${OF_TOKEN}`;

/** Counts a check of a code, up to $2 of them. $1 digests of the token. */
export const COUNT_CHECK = `
  UPDATE console_sign_ins SET attempts = attempts + 1 WHERE ${OF_TOKEN} AND attempts < $2 RETURNING ${FIELDS}`;

/** Records a request for a code, one each $2 seconds. $1 digests of the token. */
export const RECORD_CODE = `
  UPDATE console_sign_ins SET code_sent_at = ${NOW}
  WHERE ${OF_TOKEN} AND (code_sent_at IS NULL OR code_sent_at <= ${NOW} - make_interval(secs => $2))
  RETURNING session_id AS "sessionId", member_id IS NOT NULL AS "isMember"`;

/** Seconds until the next code may be requested, of $2. $1 digests of the token. */
export const NEXT_CODE_IN = `
  SELECT extract(epoch FROM code_sent_at - ${NOW})::float8 + $2 AS seconds FROM console_sign_ins WHERE ${OF_TOKEN}`;

/** Ends a sign-in, and returns its member, who must still be one of an account and have the phone $2. $1 digests. */
export const TAKE_PHONE_SIGN_IN = `
  DELETE FROM console_sign_ins s USING members m
  WHERE ${OF_TOKEN} AND m.id = s.member_id AND m.phone = $2 AND m.account_id IS NOT NULL AND m.active
  RETURNING m.id`;
