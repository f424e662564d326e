const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** $1 digest, $2 kind, $3 sealed state, $4 seconds. */
export const BEGIN_SIGN_IN = `
  INSERT INTO console_sign_ins (digest, kind, sealed, expires_at) VALUES ($1, $2, $3, ${NOW} + make_interval(secs => $4))`;

/** Ends a sign-in that has not expired, and returns its state. $1 digests of its token, $2 kind. */
export const TAKE_SIGN_IN = `
  DELETE FROM console_sign_ins WHERE digest = ANY ($1::bytea[]) AND kind = $2 AND expires_at > ${NOW}
  RETURNING digest, sealed`;

/** $1 kind. */
export const DELETE_SIGN_INS = `DELETE FROM console_sign_ins WHERE kind = $1`;

/** Deletes up to $1 expired ones. */
export const DELETE_EXPIRED_SIGN_INS = `
  DELETE FROM console_sign_ins WHERE digest IN (
    SELECT digest FROM console_sign_ins WHERE expires_at < ${NOW} ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`;
