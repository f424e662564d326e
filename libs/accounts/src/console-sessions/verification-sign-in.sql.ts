const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** Sign-ins that a verification of a phone decides: whole ones, and the second step of others. */
export type VerificationKind = 'phone' | 'second_step';

const FIELDS = `session_id AS "sessionId", expires_at AS "expiresAt"`;
const ofToken = (kind: VerificationKind): string =>
  `digest = ANY ($1::bytea[]) AND kind = '${kind}' AND expires_at > ${NOW}`;

/** The statements of a kind of sign-in. $1 digests of its token. */
export const signInStatements = (kind: VerificationKind) => ({
  find: `SELECT ${FIELDS} FROM console_sign_ins WHERE ${ofToken(kind)}`,
  /** Counts a check of a code, up to $2 of them. */
  countCheck: `
    UPDATE console_sign_ins SET attempts = attempts + 1 WHERE ${ofToken(kind)} AND attempts < $2 RETURNING ${FIELDS}`,
  /** Records a request for a code, one each $2 seconds. */
  recordCode: `
    UPDATE console_sign_ins SET code_sent_at = ${NOW}
    WHERE ${ofToken(kind)} AND (code_sent_at IS NULL OR code_sent_at <= ${NOW} - make_interval(secs => $2))
    RETURNING session_id AS "sessionId", member_id IS NOT NULL OR admin_key_id IS NOT NULL AS "hasHolder"`,
  /** Seconds until the next code may be requested, of $2. */
  nextCodeIn: `
    SELECT extract(epoch FROM code_sent_at - ${NOW})::float8 + $2 AS seconds FROM console_sign_ins
    WHERE ${ofToken(kind)}`,
});

/**
 * Begins a sign-in, of the active member of an active account with the phone $2, or of nobody. $1 digest, $3 session,
 * $4 seconds.
 */
export const BEGIN_PHONE_SIGN_IN = `
  INSERT INTO console_sign_ins (digest, kind, member_id, session_id, expires_at)
  VALUES ($1, 'phone', (
    SELECT m.id FROM members m JOIN accounts a ON a.id = m.account_id WHERE m.phone = $2 AND m.active AND a.active
  ), $3, ${NOW} + make_interval(secs => $4))`;

const HOLDER = `m.id AS "memberId", NULL::uuid AS "adminKeyId", '{}'::bytea[] AS "keyDigests"`;

/**
 * Ends a sign-in, and returns its member, who must still be one of an account and have the phone $2. The member is locked: a
 * change that has begun is waited for and judged, and a later one ends the new session. $1 digests.
 */
export const TAKE_PHONE_SIGN_IN = `
  WITH m AS MATERIALIZED (
    SELECT id FROM members WHERE id IN (SELECT member_id FROM console_sign_ins WHERE ${ofToken('phone')})
      AND phone = $2 AND account_id IS NOT NULL AND active FOR NO KEY UPDATE)
  DELETE FROM console_sign_ins s USING m WHERE ${ofToken('phone')} AND m.id = s.member_id RETURNING ${HOLDER}`;

/** $1 digest, $2 member, $3 admin key, $4 digests of the key, $5 session, $6 seconds. */
export const BEGIN_SECOND_STEP = `
  INSERT INTO console_sign_ins (digest, kind, member_id, admin_key_id, key_digests, session_id, expires_at)
  VALUES ($1, 'second_step', $2, $3, $4, $5, ${NOW} + make_interval(secs => $6))`;

/** The phone of a member of the installation or of the holder of an admin key. $1 member, $2 admin key. */
export const FIND_PHONE_OF_HOLDER = `
  SELECT phone FROM members WHERE id = $1 AND account_id IS NULL AND active AND phone IS NOT NULL
  UNION ALL
  SELECT phone FROM admin_keys WHERE id = $2 AND revoked_at IS NULL AND phone IS NOT NULL`;

/**
 * Ends a second step, and returns its holder: an active member of the installation, or an admin key that has neither been
 * revoked nor rotated since, which must still have the phone $2, and is locked as above. $1 digests.
 */
export const TAKE_SECOND_STEP = `
  WITH m AS MATERIALIZED (
    SELECT id FROM members WHERE id IN (SELECT member_id FROM console_sign_ins WHERE ${ofToken('second_step')})
      AND phone = $2 AND account_id IS NULL AND active FOR NO KEY UPDATE),
  k AS MATERIALIZED (
    SELECT id, digest FROM admin_keys
    WHERE id IN (SELECT admin_key_id FROM console_sign_ins WHERE ${ofToken('second_step')})
      AND phone = $2 AND revoked_at IS NULL FOR NO KEY UPDATE)
  DELETE FROM console_sign_ins s WHERE ${ofToken('second_step')} AND (
    EXISTS (SELECT FROM m WHERE m.id = s.member_id)
    OR EXISTS (SELECT FROM k WHERE k.id = s.admin_key_id AND k.digest = ANY (s.key_digests)))
  RETURNING s.member_id AS "memberId", s.admin_key_id AS "adminKeyId", s.key_digests AS "keyDigests"`;
