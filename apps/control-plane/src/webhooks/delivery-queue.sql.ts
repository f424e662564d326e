import { MAX_COUNTED } from '@countersign/events';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;
/** A claim puts the next attempt to the end of its lease, which is never further away: the rest of the index is left alone. */
const CLAIMED = `status = 'pending' AND claimed_until > statement_timestamp()
  AND next_attempt_at > statement_timestamp() AND next_attempt_at < statement_timestamp() + interval '1 minute'`;
const FREE = `status = 'pending' AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())`;
const UNTAKEN = `dispatched_at IS NULL AND webhook_url IS NOT NULL`;

const counted = (what: string): string =>
  `(SELECT count(*)::int FROM (SELECT 1 FROM ${what} LIMIT ${MAX_COUNTED}) AS found)`;

/**
 * What waits: events that nobody has taken yet too, since each of them becomes a delivery. The age is of what is due and
 * not begun: one that waits for its next attempt is not late.
 */
export const WEBHOOKS_DEPTH = `
  SELECT ${counted(`deliveries WHERE ${FREE}`)} + ${counted(`events WHERE ${UNTAKEN}`)} AS waiting,
    ${counted(`deliveries WHERE ${CLAIMED}`)} AS "inFlight", ${counted(`deliveries WHERE status = 'failed'`)} AS failed,
    (SELECT round(extract(epoch FROM clock_timestamp() - min(due)), 3)::float8 FROM (
      (SELECT next_attempt_at AS due FROM deliveries WHERE ${FREE} AND next_attempt_at <= statement_timestamp()
        ORDER BY next_attempt_at LIMIT 1)
      UNION ALL (SELECT occurred_at FROM events WHERE ${UNTAKEN} ORDER BY id LIMIT 1)) AS late) AS "oldestAgeSeconds"`;

/** Deliveries that were given up, newest first, locked. $1 how many at most. */
export const LOCK_FAILED = `
  SELECT id FROM deliveries WHERE status = 'failed' ORDER BY id DESC LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Begins the schedule of locked deliveries anew, due at once. $1 ids, $2 and $3 their bounds. */
export const BEGIN_ANEW = `
  UPDATE deliveries SET status = 'pending', next_attempt_at = ${NOW}, attempts_before = jsonb_array_length(attempts),
    ended_at = NULL, retry_asked = false, schedule_resumes_at = NULL
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND status = 'failed'`;
