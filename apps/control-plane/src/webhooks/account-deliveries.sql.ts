import type { DeliveryStatus } from './attempt.js';
import type { DeliveryRow } from './delivery.view.js';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** The columns of a delivery that its account may read, with the sealed body. */
const DELIVERY = `id, account_id AS "accountId", session_id AS "sessionId", type, url, status, attempts,
  next_attempt_at AS "nextAttemptAt", body_sealed AS "bodySealed"`;

/** Octets of bodies and attempts on a page; the row that reaches this limit is the last one. 100 bodies may have 5 MB. */
export const PAGE_BODY_OCTETS = 262_144;

/** A row of a page, with the number of rows that the page had before PAGE_BODY_OCTETS was applied. */
export type ListedDelivery = DeliveryRow & { readonly found: number };

/**
 * Deliveries of an account that have one of these statuses, newest first, until their bodies reach PAGE_BODY_OCTETS: of each
 * status as many as are wanted in all, so that the index is read no further. The statuses are written out, since the planner
 * knows which of them are rare. The length of a body is known without reading it. $1 account, $2 id to begin behind or null,
 * $3 how many, $4 whether of a test key.
 */
export const listDeliveries = (statuses: readonly DeliveryStatus[]): string => `
  SELECT * FROM (
    SELECT *, (count(*) OVER ())::int AS found, sum(octets) OVER (ORDER BY id DESC) - octets AS "octetsBefore"
    FROM (
      SELECT *, coalesce(octet_length("bodySealed"), 0) + octet_length(attempts::text) AS octets
      FROM (${statuses.map((status) => `(${ofStatus(status)})`).join(' UNION ALL ')}) AS listed
      ORDER BY id DESC LIMIT $3) AS page) AS bounded
  WHERE "octetsBefore" < ${PAGE_BODY_OCTETS} ORDER BY id DESC`;

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
