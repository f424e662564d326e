import { isRunning } from '@countersign/events';
import { prepared } from '@countersign/postgres';
import { QUICK_LOOK_SECONDS } from '@countersign/postgres/due-rows';
import { onDays } from '@countersign/postgres/partitions';

/** Database time in milliseconds, as a JS Date holds it: leases are compared for equality. */
const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** The same text as `hostOf` in targets/target.ts. */
const HOST = `lower(substring(url from '^[A-Za-z]+://([^/?#]*)'))`;

/**
 * Inserts the deliveries of events, due at once. A delivery has the id of its event, so that each event has at most one.
 * Claimed deliveries get their lease and body here, unless the queue is paused. $1 to $6 one array per column: id, account,
 * session, type, URL, time of the event; $7 sealed bodies, $8 whether each is to be claimed, $9 lease in seconds; $10 whether
 * each is of a test key.
 */
export const INSERT_DELIVERIES = prepared(`
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
  RETURNING id, claimed_until AS "claimedUntil"`);

/** The parameters are the hosts, and the accounts of live and of test deliveries, that have no capacity. */
const hasCapacity = (hosts: string, live: string, test: string): string => `
  (${live}::uuid[] = '{}' OR test OR (account_id = ANY (${live}::uuid[])) IS NOT TRUE)
  AND (${test}::uuid[] = '{}' OR NOT test OR (account_id = ANY (${test}::uuid[])) IS NOT TRUE)
  AND (${hosts}::text[] = '{}' OR (${HOST} = ANY (${hosts}::text[])) IS NOT TRUE)`;

/**
 * Reads due deliveries, longest due first, without those of full hosts and accounts; none while the queue is paused. Does not
 * lock: with a backlog most due deliveries cannot be claimed now, and locking a row writes it. Stops to read after $6 rows. $1
 * how many at most, $2 lowest id, $3 hosts, $4 accounts of live and $5 of test deliveries without capacity, $7 how many seconds ago
 * they were due at most, null for all past times. `late`: a quick look would not find it.
 */
export const READ_DUE_DELIVERIES = `
  SELECT id, account_id AS "accountId", test, url,
    next_attempt_at <= statement_timestamp() - interval '${QUICK_LOOK_SECONDS} seconds' AS late FROM (
    SELECT id, account_id, test, url, next_attempt_at FROM deliveries
    WHERE status = 'pending' AND next_attempt_at <= statement_timestamp() AND id >= $2 AND ${isRunning('webhooks')}
      AND next_attempt_at > coalesce(statement_timestamp() - make_interval(secs => $7), '-infinity')
    ORDER BY next_attempt_at LIMIT $6) AS longest_due
  WHERE ${hasCapacity('$3', '$4', '$5')} LIMIT $1`;

/** In the index \`deliveries_unclaimed\`, which deliveries that succeed at once never enter. */
const UNCLAIMED = `status = 'pending' AND claimed_until IS NULL AND id >= $1`;

/**
 * Reads the longest due deliveries of some accounts, from account to account in the order of their ids, and those whose lease
 * ended lately, since their process died. Reads at most $4 accounts, $5 rows of each and $6 others, whatever their backlogs.
 * With a row for the last account that was read, unless there are no more: \`last\`. $1 lowest id, $2 account and $3 mode to
 * begin behind, $7 hosts, $8 accounts of live and $9 of test deliveries without capacity.
 */
export const READ_DUE_BY_ACCOUNT = `
  WITH RECURSIVE accounts_read (account_id, test, position) AS (
    SELECT $2::uuid, $3::boolean, 0
    UNION ALL
    SELECT found.account_id, found.test, accounts_read.position + 1 FROM accounts_read, LATERAL (
      SELECT account_id, test FROM deliveries
      WHERE ${UNCLAIMED} AND (account_id, test) > (accounts_read.account_id, accounts_read.test)
      ORDER BY account_id, test LIMIT 1) AS found
    WHERE accounts_read.position < $4
  )
  SELECT id, account_id AS "accountId", test, url, false AS last FROM (
    SELECT due.* FROM accounts_read, LATERAL (
      SELECT id, account_id, test, url FROM deliveries
      WHERE ${UNCLAIMED} AND account_id = accounts_read.account_id AND test = accounts_read.test
        AND next_attempt_at <= statement_timestamp()
      ORDER BY next_attempt_at LIMIT $5) AS due
    WHERE accounts_read.position > 0
    UNION ALL (
      SELECT id, account_id, test, url FROM (
        SELECT id, account_id, test, url, claimed_until FROM deliveries
        WHERE status = 'pending' AND next_attempt_at <= statement_timestamp() AND id >= $1
        ORDER BY next_attempt_at DESC LIMIT $6) AS latest_due
      WHERE claimed_until IS NOT NULL)) AS due
  WHERE ${isRunning('webhooks')} AND ${hasCapacity('$7', '$8', '$9')}
  UNION ALL SELECT NULL, account_id, test, NULL, true FROM accounts_read WHERE position = $4`;

/*
 * The statements below select their deliveries by ids alone, which prune partitions as bounds of the ids would. With bounds or
 * the status in addition, the planner estimates one row, since its statistics are older than the rows of this minute: it then
 * chooses a nested loop (a record in a set of 250 costs 87 µs instead of 21 µs) or reads all due deliveries. The status need
 * not be compared: ended deliveries have neither a lease nor a next attempt.
 */

/** Locks those of some deliveries that are still due; skips deliveries that another process is claiming. $1 ids. */
export const LOCK_DUE_DELIVERIES = onDays(
  'deliveries',
  [1],
  (deliveries) => `
  SELECT id, account_id AS "accountId", test, session_id AS "sessionId", type, url, occurred_at AS "occurredAt",
    body_sealed AS "bodySealed", jsonb_array_length(attempts) - attempts_before AS "attemptsMade",
    retry_asked AS "retryAsked", schedule_resumes_at AS "scheduleResumesAt"
  FROM ${deliveries}
  WHERE id = ANY ($1::uuid[]) AND next_attempt_at <= statement_timestamp() AND ${isRunning('webhooks')}
  ORDER BY id FOR UPDATE SKIP LOCKED`,
);

/**
 * Claims locked deliveries: no other process attempts them before the lease ends. The first claim writes the body. $1 ids,
 * $2 sealed bodies in the same order, null where the row has a body, $3 lease in seconds.
 */
export const CLAIM_DELIVERIES = onDays(
  'deliveries',
  [1],
  (deliveries) => `
  UPDATE ${deliveries}
  SET claimed_until = lease.ends, next_attempt_at = lease.ends, body_sealed = coalesce(deliveries.body_sealed, claimed.body)
  FROM unnest($1::uuid[], $2::bytea[]) AS claimed (id, body),
    (SELECT ${NOW} + make_interval(secs => $3) AS ends) AS lease
  WHERE deliveries.id = claimed.id AND deliveries.id = ANY ($1::uuid[])
  RETURNING deliveries.id, deliveries.claimed_until AS "claimedUntil"`,
);

/** Ends locked deliveries without an attempt. $1 ids. */
export const BLOCK_DELIVERIES = `
  UPDATE deliveries SET status = 'blocked', next_attempt_at = NULL, claimed_until = NULL, retry_asked = false,
    schedule_resumes_at = NULL, ended_at = ${NOW}
  WHERE id = ANY ($1::uuid[])`;

/** Attempts kept with a delivery: another one replaces the oldest. The attempts of its schedule are counted all the same. */
const MAX_ATTEMPTS_KEPT = 100;
const ALL_KEPT = `(jsonb_array_length(deliveries.attempts) >= ${MAX_ATTEMPTS_KEPT})`;

/** A retry was requested during an attempt that did not succeed: the retry is due at once. */
const RETRY_REQUESTED = `(deliveries.retry_asked AND NOT made.beside AND made.status <> 'succeeded')`;

/**
 * Records attempts of deliveries whose lease is unchanged; a lost lease records nothing. The end of a lease is its fencing token: a
 * delivery is claimed again only after that time, or after this record, so that the next lease ends later. $1 ids, $2 leases, $3 new status,
 * $4 next attempt or null, $5 attempt as JSON, $6 whether it was beside the schedule, each in the order of the ids.
 */
export const RECORD_ATTEMPTS = onDays(
  'deliveries',
  [1],
  (deliveries) => `
  UPDATE ${deliveries}
  SET status = CASE WHEN ${RETRY_REQUESTED} THEN 'pending' ELSE made.status END,
    next_attempt_at = CASE WHEN ${RETRY_REQUESTED} THEN ${NOW} ELSE made.next_attempt_at END,
    schedule_resumes_at = CASE WHEN ${RETRY_REQUESTED} THEN made.next_attempt_at END,
    retry_asked = ${RETRY_REQUESTED},
    ended_at = CASE WHEN NOT ${RETRY_REQUESTED} AND made.status <> 'pending' THEN ${NOW} END,
    claimed_until = NULL,
    attempts = CASE WHEN ${ALL_KEPT} THEN deliveries.attempts - 0 ELSE deliveries.attempts END || made.attempt,
    attempts_before = deliveries.attempts_before + made.beside::int - ${ALL_KEPT}::int
  FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::timestamptz[], $5::jsonb[], $6::boolean[])
    AS made (id, lease, status, next_attempt_at, attempt, beside)
  WHERE deliveries.id = made.id AND deliveries.id = ANY ($1::uuid[]) AND deliveries.claimed_until = made.lease
  RETURNING deliveries.id`,
);

/** Ends the leases of claimed deliveries that were not attempted; they are due at once. $1 ids, $2 leases. */
export const RELEASE_DELIVERIES = `
  UPDATE deliveries SET claimed_until = NULL, next_attempt_at = ${NOW}
  FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, lease)
  WHERE deliveries.id = given.id AND deliveries.id = ANY ($1::uuid[]) AND deliveries.claimed_until = given.lease`;

/** The longest due deliveries: hosts are looked for among these only. */
const longestDue = (lowestId: string, count: string): string => `(
  SELECT id, url FROM deliveries
  WHERE status = 'pending' AND next_attempt_at <= statement_timestamp() AND id >= ${lowestId}
  ORDER BY next_attempt_at LIMIT ${count}) AS longest_due`;

/**
 * Reads due deliveries to paused hosts, without locks. $1 hosts, $2 seconds left of each pause, $3 lowest id, $4 how many at
 * most, $5 how many due ones are read.
 */
export const READ_DUE_TO_HOSTS = `
  SELECT longest_due.id, paused.seconds FROM ${longestDue('$3', '$5')}
  JOIN unnest($1::text[], $2::float8[]) AS paused (host, seconds) ON paused.host = ${HOST} LIMIT $4`;

/** Locks those of some deliveries that are still due and that no other process has locked. $1 ids. */
export const LOCK_DUE_IDS = `
  SELECT id FROM deliveries WHERE id = ANY ($1::uuid[]) AND next_attempt_at <= statement_timestamp()
  ORDER BY id FOR UPDATE SKIP LOCKED`;

/**
 * Counts the deliveries due to some hosts. $1 hosts, $2 lowest id, $3 the number at which it stops to count, $4 how many due
 * ones are read.
 */
export const COUNT_DUE_TO_HOSTS = `
  SELECT count(*)::int AS due FROM (
    SELECT FROM ${longestDue('$2', '$4')} WHERE ${HOST} = ANY ($1::text[]) LIMIT $3) AS counted`;

/** Postpones locked deliveries. $1 ids, $2 seconds from now, in the order of the ids. */
export const POSTPONE_DELIVERIES = `
  UPDATE deliveries SET next_attempt_at = ${NOW} + make_interval(secs => postponed.seconds)
  FROM unnest($1::uuid[], $2::float8[]) AS postponed (id, seconds)
  WHERE deliveries.id = postponed.id AND deliveries.id = ANY ($1::uuid[])`;

/** Milliseconds until the next delivery falls due, without deliveries that are due already; null without one. $1 lowest id. */
export const NEXT_DUE = `
  SELECT (extract(epoch FROM min(next_attempt_at) - clock_timestamp()) * 1000)::float8 AS "inMs"
  FROM deliveries WHERE status = 'pending' AND next_attempt_at > statement_timestamp() AND id >= $1`;
