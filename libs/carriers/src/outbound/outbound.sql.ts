import { isRunning } from '@countersign/events';
import { CURRENT_XID } from '@countersign/postgres';
import { isUnexpired } from '../config/lease.sql.js';
import { IS_ALIVE } from '../leases/gateway.sql.js';

/** Database time truncated to the precision of a JS date. */
const NOW = `date_trunc('milliseconds', clock_timestamp())`;

// Counts and lists stop at the bounds of their columns, so that one row does not fail a statement for others. A code, which
// lives for minutes, does not reach the bounds.
const MOST_ATTEMPTS = 32_767;
const MOST_UNKNOWN = 100;
const MOST_ROUTES = 4_096;

/** Attempts kept of a message: the first and the latest. */
const ATTEMPTS_KEPT = 20;
/**
 * Octets of a log as text before an attempt is added, and before its result is: more are those of another writer, and such a log
 * begins anew. With what these statements add it stays below the bound of the column (0028-attempts-and-refusals.ts).
 */
const LONGEST_BEFORE = { attempt: 16_384, result: 24_576 } as const;
const LOG_OCTETS = `octet_length(attempt_log::text)`;
/** Characters of a text in an attempt. */
const SHORT = 100;

/** The log with one attempt more, whose number is that of the claim. `fields`: names and values of jsonb_build_object. */
const withAttempt = (fields: string): string => `CASE WHEN ${LOG_OCTETS} > ${LONGEST_BEFORE.attempt} THEN '[]'::jsonb
    WHEN jsonb_array_length(attempt_log) >= ${ATTEMPTS_KEPT} THEN attempt_log - 1 ELSE attempt_log END
  || jsonb_build_object('n', least(attempts + 1, ${MOST_ATTEMPTS}), 'startedAt', ${NOW}, ${fields})`;

/** The log with the result of the present attempt, unless a gateway of another release claimed it without an entry. */
const withResult = (fields: string): string => `CASE WHEN ${LOG_OCTETS} > ${LONGEST_BEFORE.result} THEN '[]'::jsonb
    WHEN attempt_log->-1->>'n' = attempts::text
    THEN jsonb_set(attempt_log, '{-1}', (attempt_log->-1) || jsonb_build_object(${fields})) ELSE attempt_log END`;

/** The times of a result: of its submit and of its answer, or null. */
const TIMES = `'submittedAt', done.submitted, 'answeredAt', done.answered`;

/** A list with the route of the message; the oldest ones are dropped. */
const withRoute = (list: string): string =>
  `(${list} || route_id)[greatest(1, cardinality(${list}) + 2 - ${MOST_ROUTES}) :]`;

/**
 * Queues a message, due at once. $1 id, $2 session, $3 account, $4 test, $5 destination, $6 its block, $7 country, $8
 * sender, $9 sealed text, $10 time of the request, $11 end of the session.
 */
export const INSERT_OUTBOUND = `
  INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
    text_sealed, created_at, expires_at, next_attempt_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10)`;

/** Longer than any claim: one that ends later is of no gateway. Twice the longest response timeout is 10 minutes. */
const LONGEST_CLAIM = `interval '1 hour'`;
const ENDED_CLAIM = `state = 'sending' AND claimed_until <= statement_timestamp()`;
const NO_CLAIM = `state = 'sending' AND claimed_until > statement_timestamp() + ${LONGEST_CLAIM}`;

/**
 * A gateway that lives records the outcome of an attempt whenever the database is back, so only it takes back a claim of its own
 * that it knows nothing of, and others take back those of a gateway that is gone. $4 the asking gateway, $5 messages whose outcome it
 * holds, $6 whether those of others may be taken back.
 */
const IS_ABANDONED = `CASE WHEN claimed_by = $4 THEN id <> ALL ($5::uuid[])
  ELSE $6 AND NOT EXISTS (SELECT FROM gateways WHERE gateways.id = outbound_messages.claimed_by AND ${IS_ALIVE}) END`;

/**
 * Messages in state `sending` with an expired claim (the gateway crashed or lost the database), the last one first, and with
 * a claim that no gateway makes. $1 maximum rows of each, $2 lowest id, $3 first id that cannot exist yet; see IS_ABANDONED.
 */
export const LIST_LAPSED = `
  (SELECT id FROM outbound_messages WHERE ${ENDED_CLAIM} AND id >= $2 AND id < $3 AND ${IS_ABANDONED}
    ORDER BY claimed_until DESC LIMIT $1)
  UNION ALL
  (SELECT id FROM outbound_messages WHERE ${NO_CLAIM} AND id >= $2 AND id < $3 LIMIT $1)`;

/** Locks those of these messages whose claim has expired; skips those that another gateway is requeueing. $1 ids, $2 and $3 their bounds. */
export const LOCK_LAPSED = `
  SELECT id FROM outbound_messages
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND (${ENDED_CLAIM} OR ${NO_CLAIM}) ORDER BY id FOR UPDATE SKIP LOCKED`;

/** Requeues locked messages with an unknown outcome. $1 ids, $2 and $3 their bounds. */
export const REQUEUE_LAPSED = `
  UPDATE outbound_messages SET state = 'queued', next_attempt_at = ${NOW}, claimed_by = NULL, claimed_until = NULL,
    unknown_fates = least(unknown_fates + 1, ${MOST_UNKNOWN}), attempt_log = ${withResult(`'outcome', 'unknown'`)}
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state = 'sending'`;

const DUE = `id, session_id AS "sessionId", account_id AS "accountId", destination, sender, text_sealed AS "textSealed",
    expires_at AS "expiresAt", attempts, unknown_fates AS "unknownFates", refused_routes AS "refusedRoutes",
    busy_routes AS "busyRoutes", network_error AS "networkError", ${NOW} AS now`;

/** Twice the longest life of a code, which is first due when it is created. */
const LONGEST_DUE = `interval '10 minutes'`;

/**
 * Due messages, locked; skips those that another gateway is claiming, and those of test keys. First those that may still be
 * sent, longest due first; none while the queue is paused. Then some of the expired ones, to be failed: however many these
 * are, and whenever they are due, they delay no other. The index outbound_messages_live has the queued codes that are due before
 * they end; LONGEST_DUE skips those of them that expired long ago. With 100,000 of each queued, 100 are locked in 0.5 ms. $1
 * maximum rows, $2 lowest id, $3 first id that cannot exist yet, $4 maximum expired rows, $5 whether to read expired ones that
 * are not due as well, $6 how many seconds ago they were due at most, null for all (`QuickLooks`).
 */
export const LOCK_DUE = `
  WITH live AS MATERIALIZED (
    SELECT ${DUE} FROM outbound_messages
    WHERE state = 'queued' AND NOT test AND next_attempt_at < expires_at AND next_attempt_at <= statement_timestamp()
      AND next_attempt_at > statement_timestamp() - least(${LONGEST_DUE}, make_interval(secs => $6)) AND expires_at > statement_timestamp()
      AND id >= $2 AND id < $3 AND ${isRunning('outbound')}
    ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED),
  expired AS MATERIALIZED (
    SELECT ${DUE} FROM outbound_messages
    WHERE state = 'queued' AND NOT test AND next_attempt_at <= CASE WHEN $5 THEN 'infinity'::timestamptz ELSE statement_timestamp() END
      AND next_attempt_at > coalesce(statement_timestamp() - make_interval(secs => $6), '-infinity')
      AND expires_at <= statement_timestamp() AND id >= $2 AND id < $3
    ORDER BY next_attempt_at LIMIT least($4, $1 - (SELECT count(*) FROM live)) FOR UPDATE SKIP LOCKED)
  SELECT * FROM live UNION ALL SELECT * FROM expired`;

/** Whether each session can still use a code, and its webhook URL and brand. $1 ids, $2 and $3 their bounds. */
export const READ_SESSIONS = `
  SELECT id, status = 'pending' AND expires_at > clock_timestamp() AS live, webhook_url AS "webhookUrl",
    brand_name AS brand
  FROM sessions WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`;

const CLAIMED = `'gateway', $7::uuid, 'route', claim.route, 'bind', claim.bind, 'slot', claim.slot, 'system', claim.system,
  'carrier', left(claim.carrier, ${SHORT}), 'source', left(claim.source, ${SHORT})`;

/**
 * Claims locked messages for one attempt each. The attempt is counted before it is made, and its outcome may be
 * recorded only with that count. Over a bind only with a valid lease of the connection. $1 ids, $2 claim seconds, $3
 * routes, $4 binds, $5 carriers, $6 senders, in the same order, $7 claiming gateway, $8 and $9 bounds of the ids; $10
 * slots of the binds, $11 owners and $12 epochs of their leases, and $13 systems, in the same order; bind, slot, owner
 * and epoch are null for a system, which is null for a bind. The attempt log names all of them.
 */
export const CLAIM_MESSAGES = `
  UPDATE outbound_messages
  SET state = 'sending', next_attempt_at = NULL, claimed_by = $7, attempts = least(attempts + 1, ${MOST_ATTEMPTS}),
    claimed_until = ${NOW} + make_interval(secs => claim.seconds), route_id = claim.route, bind_id = claim.bind,
    system_id = claim.system, carrier = claim.carrier, source = claim.source, attempt_log = ${withAttempt(CLAIMED)}
  FROM unnest($1::uuid[], $2::float8[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $10::smallint[], $11::uuid[],
      $12::bigint[], $13::uuid[])
      AS claim (claimed_id, seconds, route, bind, carrier, source, slot, owner, epoch, system)
    LEFT JOIN bind_connections AS held ON held.bind_id = claim.bind AND held.slot = claim.slot AND held.owner = claim.owner
      AND held.epoch = claim.epoch AND ${isUnexpired('held')}
  WHERE id = claimed_id AND id = ANY ($1::uuid[]) AND id BETWEEN $8 AND $9 AND state = 'queued'
    AND (held.bind_id IS NOT NULL OR claim.system IS NOT NULL)
  RETURNING id, attempts`;

/**
 * Postpones locked messages. $1 ids, $2 milliseconds and $3 whether busy routes may be tried again, in the same
 * order, $4 and $5 bounds of the ids.
 */
export const POSTPONE_MESSAGES = `
  UPDATE outbound_messages
  SET next_attempt_at = ${NOW} + make_interval(secs => wait.ms / 1000.0),
    busy_routes = CASE WHEN wait.afresh THEN '{}' ELSE busy_routes END
  FROM unnest($1::uuid[], $2::float8[], $3::boolean[]) AS wait (waiting_id, ms, afresh)
  WHERE id = waiting_id AND id = ANY ($1::uuid[]) AND id BETWEEN $4 AND $5 AND state = 'queued'`;

/**
 * Requeues messages, due at once, whose attempt failed or has an unknown outcome; only for the attempt with that
 * count. $1 ids, $2 attempt counts, $3 reasons, $4 whether the route refused permanently, $5 whether the outcome is
 * unknown, in the same order, $6 and $7 bounds of the ids; $8 outcomes, $9 times of the submit and $10 of the answer or
 * null, in the same order.
 */
export const REQUEUE_MESSAGES = `
  UPDATE outbound_messages
  SET state = 'queued', next_attempt_at = ${NOW}, claimed_by = NULL, claimed_until = NULL, network_error = done.error,
    refused_routes = CASE WHEN done.refused THEN ${withRoute('refused_routes')} ELSE refused_routes END,
    busy_routes = CASE WHEN done.refused THEN busy_routes ELSE ${withRoute('busy_routes')} END,
    unknown_fates = least(unknown_fates + CASE WHEN done.unknown THEN 1 ELSE 0 END, ${MOST_UNKNOWN}),
    attempt_log = ${withResult(`'outcome', done.outcome, 'error', left(done.error, ${SHORT}), ${TIMES}`)}
  FROM unnest($1::uuid[], $2::smallint[], $3::text[], $4::boolean[], $5::boolean[], $8::text[], $9::timestamptz[],
      $10::timestamptz[])
    AS done (done_id, attempt, error, refused, unknown, outcome, submitted, answered)
  WHERE id = done_id AND id = ANY ($1::uuid[]) AND id BETWEEN $6 AND $7 AND state = 'sending' AND attempts = done.attempt
  RETURNING id`;

/** The current price of a code for its destination: the country's own before the general one, else 0. */
const PRICE = `CASE WHEN test THEN 0 ELSE coalesce((SELECT usd FROM prices
    WHERE prices.channel = 'sms_otp' AND prices.country IN (outbound_messages.country, '*')
      AND prices.from_at <= clock_timestamp()
    ORDER BY prices.country = '*', prices.from_at DESC LIMIT 1), 0) END`;

/**
 * Marks messages as submitted: erases the text, fixes the cost. $1 ids, $2 attempt counts or null without a claim, $3
 * the carrier's ids or null, in the same order, $4 and $5 bounds of the ids, $6 the previous state; $7 times of the submit
 * and $8 of the answer or null, in the same order.
 */
export const MARK_SUBMITTED = `
  UPDATE outbound_messages
  SET state = 'submitted', text_sealed = NULL, next_attempt_at = NULL, claimed_by = NULL, claimed_until = NULL,
    smsc_message_id = done.smsc_id, submitted_at = ${NOW}, submitted_xid = ${CURRENT_XID}, network_error = NULL, cost_usd = ${PRICE},
    attempt_log = ${withResult(`'outcome', 'submitted', 'smscMessageId', left(done.smsc_id, ${SHORT}), ${TIMES}`)}
  FROM unnest($1::uuid[], $2::smallint[], $3::text[], $7::timestamptz[], $8::timestamptz[])
    AS done (done_id, attempt, smsc_id, submitted, answered)
  WHERE id = done_id AND id = ANY ($1::uuid[]) AND id BETWEEN $4 AND $5 AND state = $6
    AND attempts = coalesce(done.attempt, attempts)
  RETURNING id, session_id AS "sessionId", account_id AS "accountId", test, submitted_at AS at`;

/**
 * Locks messages in the order of their ids, before END_MESSAGES, which locks in the order of its plan: receipts of two attempts
 * of the same messages arrive at two gateways in any order. $1 ids, $2 and $3 their bounds, $4 their state.
 */
export const LOCK_MESSAGES = `
  SELECT FROM outbound_messages WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state = $4 ORDER BY id FOR UPDATE`;

/**
 * Ends messages, once, and erases their texts. A receipt that an attempt was not delivered ends a message only while that attempt is
 * its last: a later one may arrive. $1 ids, $2 final states, $3 reasons or null and $7 attempts or null, in the same order, $4 and $5
 * bounds of the ids, $6 the previous state.
 */
export const END_MESSAGES = `
  UPDATE outbound_messages
  SET state = ended.state, text_sealed = NULL, next_attempt_at = NULL, network_error = ended.error, ended_at = ${NOW}
  FROM unnest($1::uuid[], $2::text[], $3::text[], $7::smallint[]) AS ended (ended_id, state, error, attempt)
  WHERE id = ended_id AND id = ANY ($1::uuid[]) AND id BETWEEN $4 AND $5 AND outbound_messages.state = $6
    AND (ended.state = 'delivered' OR attempts = coalesce(ended.attempt, attempts))
  RETURNING id, session_id AS "sessionId", account_id AS "accountId", test, ended_at AS at`;

/** Longer than any carrier's receipt precedes its response: an older receipt belongs to another message. */
const RECEIPT_WAITS = `interval '10 minutes'`;
/** More than a correction of the clock: no process writes a later time. */
const AHEAD = `interval '1 minute'`;

/** Whether the stored receipt is of the message that is named or reported now. */
const IS_OF_MESSAGE = `(known.message_id IS NOT NULL OR known.updated_at > excluded.updated_at - ${RECEIPT_WAITS})
    AND known.updated_at < excluded.updated_at + ${AHEAD} AND known.receipt_state IN ('delivered', 'undelivered')`;

/**
 * Stores the message of a carrier id, and returns a receipt that arrived before. Carriers reuse ids: data of an older
 * message is dropped. $1 carriers, $2 their ids, $3 messages and $4 attempts, in the same order, each pair once.
 */
export const NAME_SUBMISSIONS = `
  INSERT INTO submissions AS known (carrier, smsc_message_id, message_id, attempt, updated_at)
  SELECT carrier, smsc_id, message_id, attempt, ${NOW}
  FROM unnest($1::text[], $2::text[], $3::uuid[], $4::smallint[]) AS named (carrier, smsc_id, message_id, attempt)
  ORDER BY carrier, smsc_id
  ON CONFLICT (carrier, smsc_message_id) DO UPDATE SET message_id = excluded.message_id, attempt = excluded.attempt,
    updated_at = excluded.updated_at,
    receipt_state = CASE WHEN coalesce(known.message_id, excluded.message_id) = excluded.message_id AND ${IS_OF_MESSAGE}
      THEN known.receipt_state END,
    network_error = CASE WHEN coalesce(known.message_id, excluded.message_id) = excluded.message_id AND ${IS_OF_MESSAGE}
      THEN known.network_error END
  RETURNING message_id AS "messageId", attempt, receipt_state AS "receiptState", network_error AS "networkError"`;

/**
 * Stores final receipts, the first of each message, and returns their messages if known. $1 carriers, $2 their ids,
 * $3 states and $4 reasons or null, in the same order, each pair once.
 */
export const UPSERT_RECEIPTS = `
  INSERT INTO submissions AS known (carrier, smsc_message_id, receipt_state, network_error, updated_at)
  SELECT carrier, smsc_id, state, error, ${NOW}
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS given (carrier, smsc_id, state, error)
  ORDER BY carrier, smsc_id
  ON CONFLICT (carrier, smsc_message_id) DO UPDATE SET updated_at = excluded.updated_at,
    receipt_state = CASE WHEN ${IS_OF_MESSAGE} THEN known.receipt_state ELSE excluded.receipt_state END,
    network_error = CASE WHEN ${IS_OF_MESSAGE} THEN known.network_error ELSE excluded.network_error END
  RETURNING carrier, smsc_message_id AS "smscMessageId", message_id AS "messageId", attempt,
    receipt_state AS "receiptState", network_error AS "networkError"`;

/** The carrier ids among these whose message is known. $1 carriers and $2 their ids, in the same order. */
export const FIND_NAMED = `
  SELECT carrier, smsc_message_id AS "smscMessageId"
  FROM submissions JOIN unnest($1::text[], $2::text[]) AS given (given_carrier, smsc_id)
    ON carrier = given_carrier AND smsc_message_id = smsc_id
  WHERE message_id IS NOT NULL`;

/** Number of receipts without a message, up to a limit. $1 limit. */
export const COUNT_PARKED = `
  SELECT count(*)::int AS parked FROM (SELECT FROM submissions WHERE message_id IS NULL LIMIT $1) AS parked`;

const KEY = 'carrier, smsc_message_id';

/** Deletes some of the rows, by age; and of those with a time that no process writes. $2 maximum rows of each. */
const purge = (rows: string): string => `
  WITH old AS (
    SELECT ${KEY} FROM submissions WHERE ${rows} AND updated_at < statement_timestamp() - make_interval(secs => $1)
    ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED),
  to_come AS (
    SELECT ${KEY} FROM submissions WHERE ${rows} AND updated_at > statement_timestamp() + ${AHEAD}
    ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  DELETE FROM submissions WHERE ${rows} AND (${KEY}) IN (SELECT ${KEY} FROM old UNION ALL SELECT ${KEY} FROM to_come)
  RETURNING carrier`;

/** Deletes unmatched receipts. $1 seconds that one may wait for its message, $2 maximum rows of each age. */
export const PURGE_ORPHANS = purge('message_id IS NULL');

/** Deletes carrier ids whose receipts are no longer expected. $1 seconds, $2 maximum rows of each age. */
export const PURGE_SUBMISSIONS = purge('TRUE');
