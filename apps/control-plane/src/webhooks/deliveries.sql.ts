import { isRunning } from '@countersign/events';

/** Database time without the microseconds that a JS date would lose: a lease is compared with what was read of it. */
const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** What `hostOf` gives. */
const HOST = `lower(substring(url from '^[A-Za-z]+://([^/?#]*)'))`;

/**
 * Makes deliveries of events, due at once; a delivery has the id of its event, so that one event makes one. Those that are
 * claimed as they are made get their lease and their body here, unless the queue is paused. $1 to $6 one array per column:
 * id, account, session, type, URL, time of the event; $7 sealed bodies, $8 whether each is claimed, $9 lease in seconds;
 * $10 whether each is of a test key.
 */
export const INSERT_DELIVERIES = `
  INSERT INTO deliveries
    (id, account_id, test, session_id, type, url, occurred_at, next_attempt_at, claimed_until, body_sealed)
  SELECT id, account_id, test, session_id, type, url, occurred_at,
    CASE WHEN claimed THEN lease.ends ELSE lease.begins END, CASE WHEN claimed THEN lease.ends END,
    CASE WHEN claimed THEN body END
  FROM (SELECT made.*, wanted AND ${isRunning('webhooks')} AS claimed
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::bytea[], $8::boolean[], $10::boolean[])
        AS made (id, account_id, session_id, type, url, occurred_at, body, wanted, test)) AS made,
    (SELECT now AS begins, now + make_interval(secs => $9) AS ends FROM (SELECT ${NOW} AS now) AS clock) AS lease
  ON CONFLICT (id) DO NOTHING
  RETURNING id, claimed_until AS "claimedUntil"`;

/**
 * Deliveries whose time has come, longest due first, but those of hosts that can take no more now; none while the queue is
 * paused. Not locked, and not read beyond what a choice needs: with a backlog most of what is due is not for now, and to
 * lock a row is to write it. $1 how many, $2 lowest id looked at, $3 hosts that are full.
 */
export const LOOK_FOR_DUE = `
  SELECT id, url FROM deliveries
  WHERE status = 'pending' AND next_attempt_at <= statement_timestamp() AND id >= $2
    AND ($3::text[] = '{}' OR (${HOST} = ANY ($3::text[])) IS NOT TRUE) AND ${isRunning('webhooks')}
  ORDER BY next_attempt_at LIMIT $1`;

/*
 * The statements below name their deliveries by ids alone, which choose the partitions as bounds of the ids would. With
 * bounds beside them, or the status, the planner believes in one row, by statistics that are always older than the rows of
 * this minute: it then joins by a loop within a loop (a record in a set of 250 costs 87 µs, and 21 so), or reads all that
 * is due. What has ended has neither a lease nor a next attempt.
 */

/** Of some deliveries those that are due still, locked; those that another process is claiming are passed over. $1 ids. */
export const LOCK_DUE_DELIVERIES = `
  SELECT id, account_id AS "accountId", test, session_id AS "sessionId", type, url, occurred_at AS "occurredAt",
    body_sealed AS "bodySealed", jsonb_array_length(attempts) - attempts_before AS "attemptsMade",
    retry_asked AS "retryAsked", schedule_resumes_at AS "scheduleResumesAt"
  FROM deliveries
  WHERE id = ANY ($1::uuid[]) AND next_attempt_at <= statement_timestamp() AND ${isRunning('webhooks')}
  ORDER BY id FOR UPDATE SKIP LOCKED`;

/**
 * Claims locked deliveries: until the lease ends nobody else tries them, and after it anybody may. The body is written
 * with the first claim and stays. $1 ids, $2 sealed bodies in the same order, null where there is one already,
 * $3 lease in seconds.
 */
export const CLAIM_DELIVERIES = `
  UPDATE deliveries
  SET claimed_until = lease.ends, next_attempt_at = lease.ends, body_sealed = coalesce(deliveries.body_sealed, claimed.body)
  FROM unnest($1::uuid[], $2::bytea[]) AS claimed (id, body),
    (SELECT ${NOW} + make_interval(secs => $3) AS ends) AS lease
  WHERE deliveries.id = claimed.id AND deliveries.id = ANY ($1::uuid[])
  RETURNING deliveries.id, deliveries.claimed_until AS "claimedUntil"`;

/** Attempts that a delivery shows; before another the first of them is forgotten. The count of its schedule stays what it is. */
const MAX_ATTEMPTS_KEPT = 100;
const ALL_KEPT = `(jsonb_array_length(deliveries.attempts) >= ${MAX_ATTEMPTS_KEPT})`;

/** A retry was asked for while the attempt was under way, which did not succeed: it comes next. */
const ASKED_MEANWHILE = `(deliveries.retry_asked AND NOT made.beside AND made.status <> 'succeeded')`;

/**
 * Records attempts, under the lease they were made with: who lost it records nothing. $1 ids, $2 leases, $3 new status,
 * $4 next attempt or null, $5 attempt as JSON, $6 whether it was one beside the schedule, each in the order of the ids.
 */
export const RECORD_ATTEMPTS = `
  UPDATE deliveries
  SET status = CASE WHEN ${ASKED_MEANWHILE} THEN 'pending' ELSE made.status END,
    next_attempt_at = CASE WHEN ${ASKED_MEANWHILE} THEN ${NOW} ELSE made.next_attempt_at END,
    schedule_resumes_at = CASE WHEN ${ASKED_MEANWHILE} THEN made.next_attempt_at END,
    retry_asked = ${ASKED_MEANWHILE},
    ended_at = CASE WHEN NOT ${ASKED_MEANWHILE} AND made.status <> 'pending' THEN ${NOW} END,
    claimed_until = NULL,
    attempts = CASE WHEN ${ALL_KEPT} THEN deliveries.attempts - 0 ELSE deliveries.attempts END || made.attempt,
    attempts_before = deliveries.attempts_before + made.beside::int - ${ALL_KEPT}::int
  FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::jsonb[], $6::boolean[])
    AS made (id, lease, status, next_attempt_at, attempt, beside)
  WHERE deliveries.id = made.id AND deliveries.id = ANY ($1::uuid[]) AND deliveries.claimed_until = made.lease
  RETURNING deliveries.id`;

/** Gives back what was claimed and not tried, due at once. $1 ids, $2 leases. */
export const RELEASE_DELIVERIES = `
  UPDATE deliveries SET claimed_until = NULL, next_attempt_at = ${NOW}
  FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, lease)
  WHERE deliveries.id = given.id AND deliveries.id = ANY ($1::uuid[]) AND deliveries.claimed_until = given.lease`;

/**
 * Due deliveries to hosts that are left alone for now, locked. $1 hosts, $2 seconds for which each is left alone, $3 lowest
 * id looked at, $4 how many at most.
 */
export const LOCK_DUE_TO_HOSTS = `
  SELECT deliveries.id, alone.seconds
  FROM deliveries JOIN unnest($1::text[], $2::float8[]) AS alone (host, seconds) ON alone.host = ${HOST}
  WHERE status = 'pending' AND next_attempt_at <= statement_timestamp() AND id >= $3
  ORDER BY next_attempt_at LIMIT $4 FOR UPDATE OF deliveries SKIP LOCKED`;

/** How many deliveries are due to some hosts, counted no further than needed. $1 hosts, $2 lowest id looked at, $3 how far. */
export const COUNT_DUE_TO_HOSTS = `
  SELECT count(*)::int AS due FROM (
    SELECT FROM deliveries
    WHERE status = 'pending' AND next_attempt_at <= statement_timestamp() AND id >= $2 AND ${HOST} = ANY ($1::text[])
    LIMIT $3) AS counted`;

/** Puts locked deliveries off. $1 ids, $2 for how many seconds, in the order of the ids. */
export const POSTPONE_DELIVERIES = `
  UPDATE deliveries SET next_attempt_at = ${NOW} + make_interval(secs => put_off.seconds)
  FROM unnest($1::uuid[], $2::float8[]) AS put_off (id, seconds)
  WHERE deliveries.id = put_off.id AND deliveries.id = ANY ($1::uuid[])`;

/**
 * In how many milliseconds the next delivery falls due; null when none is waiting for its time. Those that are due
 * already wait for a place, not for a time. $1 lowest id looked at.
 */
export const NEXT_DUE = `
  SELECT (extract(epoch FROM min(next_attempt_at) - clock_timestamp()) * 1000)::float8 AS "inMs"
  FROM deliveries WHERE status = 'pending' AND next_attempt_at > statement_timestamp() AND id >= $1`;
