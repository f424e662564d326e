const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** What an account sees of a delivery; its body sealed. */
export const DELIVERY = `id, account_id AS "accountId", session_id AS "sessionId", type, url, status, attempts,
  next_attempt_at AS "nextAttemptAt", body_sealed AS "bodySealed"`;

/** $1 id, $2 account. */
export const FIND_DELIVERY = `SELECT ${DELIVERY} FROM deliveries WHERE id = $1 AND account_id = $2`;

/**
 * One more attempt, due at once. What is pending goes on with its schedule after it; what has ended tries once more. An
 * attempt that is under way is waited for: its record makes the asked one due. Asked twice, it is still one. $1 id,
 * $2 account.
 */
export const RETRY_DELIVERY = `
  UPDATE deliveries
  SET status = 'pending', retry_asked = true, ended_at = NULL,
    schedule_resumes_at = CASE WHEN retry_asked THEN schedule_resumes_at
      WHEN status = 'pending' THEN next_attempt_at END,
    next_attempt_at = CASE WHEN claimed_until > clock_timestamp() THEN next_attempt_at ELSE ${NOW} END
  WHERE id = $1 AND account_id = $2
  RETURNING ${DELIVERY}`;

/** Bodies of deliveries that ended long ago, locked, longest ended first. $1 hours since then, $2 how many at most. */
export const LOCK_OLD_BODIES = `
  SELECT id FROM deliveries
  WHERE body_sealed IS NOT NULL AND ended_at IS NOT NULL AND ended_at <= statement_timestamp() - make_interval(hours => $1)
  ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED`;

/** Forgets the bodies of locked deliveries. $1 ids, $2 and $3 their bounds. */
export const FORGET_BODIES = `
  UPDATE deliveries SET body_sealed = NULL WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;
