import { MAX_COUNTED } from '@countersign/events';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;
/** A claim sets the next attempt to the end of its lease, at most a minute away: the rest of the index is not read. */
const CLAIMED = `status = 'pending' AND claimed_until > statement_timestamp()
  AND next_attempt_at > statement_timestamp() AND next_attempt_at < statement_timestamp() + interval '1 minute'`;
const UNCLAIMED = `status = 'pending' AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())`;
const UNDISPATCHED = `dispatched_at IS NULL AND webhook_url IS NOT NULL`;

const counted = (rows: string): string =>
  `(SELECT count(*)::int FROM (SELECT 1 FROM ${rows} LIMIT ${MAX_COUNTED}) AS found)`;

/**
 * Reads the depth of the queue. Undispatched events wait too, since each becomes a delivery. The age is that of the oldest due
 * row without a claim: a delivery that waits for its next attempt is not late.
 */
export const WEBHOOKS_DEPTH = `
  SELECT ${counted(`deliveries WHERE ${UNCLAIMED}`)} + ${counted(`events WHERE ${UNDISPATCHED}`)} AS waiting,
    ${counted(`deliveries WHERE ${CLAIMED}`)} AS "inFlight", ${counted(`deliveries WHERE status = 'failed'`)} AS failed,
    (SELECT round(extract(epoch FROM clock_timestamp() - min(due)), 3)::float8 FROM (
      (SELECT next_attempt_at AS due FROM deliveries WHERE ${UNCLAIMED} AND next_attempt_at <= statement_timestamp()
        ORDER BY next_attempt_at LIMIT 1)
      UNION ALL (SELECT occurred_at FROM events WHERE ${UNDISPATCHED} ORDER BY id LIMIT 1)) AS late) AS "oldestAgeSeconds"`;

/** Locks failed deliveries, newest first. $1 how many at most. */
export const LOCK_FAILED = `
  SELECT id FROM deliveries WHERE status = 'failed' ORDER BY id DESC LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Restarts the schedule of locked deliveries, due at once. $1 ids, $2 and $3 their bounds. */
export const RESTART_SCHEDULES = `
  UPDATE deliveries SET status = 'pending', next_attempt_at = ${NOW}, attempts_before = jsonb_array_length(attempts),
    ended_at = NULL, retry_asked = false, schedule_resumes_at = NULL
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND status = 'failed'`;
