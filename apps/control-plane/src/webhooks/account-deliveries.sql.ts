import type { DeliveryStatus } from './attempt.js';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** The columns of a delivery that its account may read, with the sealed body. */
const DELIVERY = `id, account_id AS "accountId", session_id AS "sessionId", type, url, status, attempts,
  next_attempt_at AS "nextAttemptAt", body_sealed AS "bodySealed"`;

/**
 * Deliveries of an account that have one of these statuses, newest first: of each as many as are wanted in all, so that the
 * index is read no further. The statuses are written out, since the planner knows which of them are rare. $1 account,
 * $2 id to begin behind or null, $3 how many, $4 whether of a test key.
 */
export const listDeliveries = (statuses: readonly DeliveryStatus[]): string => `
  SELECT * FROM (${statuses.map((status) => `(${ofStatus(status)})`).join(' UNION ALL ')}) AS listed
  ORDER BY id DESC LIMIT $3`;

const ofStatus = (status: DeliveryStatus): string => `
  SELECT ${DELIVERY} FROM deliveries
  WHERE account_id = $1 AND test = $4 AND status = '${status}' AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`;

/** $1 id, $2 account, $3 whether of a test key. */
export const FIND_DELIVERY = `SELECT ${DELIVERY} FROM deliveries WHERE id = $1 AND account_id = $2 AND test = $3`;

/**
 * Requests one more attempt, due at once. A pending delivery continues its schedule after it; an ended one is attempted once.
 * During an attempt, its record makes the requested one due. Two requests before the attempt are one. No row after too many
 * recent attempts. $1 id, $2 account, $3 recent attempts from which on no more are allowed, $4 seconds in which an attempt is
 * recent, $5 whether of a test key.
 */
export const RETRY_DELIVERY = `
  UPDATE deliveries
  SET status = 'pending', retry_asked = true, ended_at = NULL,
    schedule_resumes_at = CASE WHEN retry_asked THEN schedule_resumes_at
      WHEN status = 'pending' THEN next_attempt_at END,
    next_attempt_at = CASE WHEN claimed_until > clock_timestamp() THEN next_attempt_at ELSE ${NOW} END
  WHERE id = $1 AND account_id = $2 AND test = $5 AND (retry_asked
    OR ((attempts -> (-$3::int) ->> 'at')::timestamptz > clock_timestamp() - make_interval(secs => $4)) IS NOT TRUE)
  RETURNING ${DELIVERY}`;

/** Locks deliveries with bodies that ended long ago, longest ended first. $1 hours since the end, $2 how many at most. */
export const LOCK_OLD_BODIES = `
  SELECT id FROM deliveries
  WHERE body_sealed IS NOT NULL AND ended_at IS NOT NULL AND ended_at <= statement_timestamp() - make_interval(hours => $1)
  ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED`;

/** Deletes the bodies of locked deliveries. $1 ids, $2 and $3 their bounds. */
export const FORGET_BODIES = `
  UPDATE deliveries SET body_sealed = NULL WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;
