import { CLOCK_MS as NOW, columnsOf, CURRENT_XID, prepared, recordsetOf } from '@countersign/postgres';
import { onDays } from '@countersign/postgres/partitions';
import { SessionEntity } from './session.entity.js';

/**
 * A session row as every statement here returns it: the entity with metadata as JSON text, without the token digest,
 * which is only compared, and without the columns of codes.
 */
export type SessionRow = Omit<
  SessionEntity,
  | 'tokenDigest'
  | 'metadata'
  | 'otpDigests'
  | 'otpSends'
  | 'otpAttempts'
  | 'otpAttemptLimit'
  | 'otpSentAt'
  | 'consumptionId'
  | 'createdXid'
  | 'rcsXid'
  | 'endedXid'
> & { readonly metadata: string };

/** A row and the database's clock, which locking statements read after the lock. */
export type TimedRow = SessionRow & { readonly now: Date };

const ENDING_COLUMNS = [
  ...(['id', 'accountId', 'brandId', 'test', 'phone', 'status', 'approvedBy'] as const),
  ...(['expiresAt', 'senderMismatchAt', 'webhookUrl'] as const),
] as const;

/** The columns that decide whether a session may end, and those that its event has. */
export type EndingRow = Pick<SessionEntity, (typeof ENDING_COLUMNS)[number]> & Pick<TimedRow, 'now'>;

/** A locked row with the hex digest by which it was found. */
export type DigestRow = EndingRow & { readonly digest: string };

/** The columns that every statement selects which returns whole sessions. */
export const COLUMNS = columnsOf(SessionEntity);
const TO_END = columnsOf(SessionEntity, { only: ENDING_COLUMNS });

/** The columns of a new session that its creator gives. */
const NEW = recordsetOf(SessionEntity, {
  without: [
    ...(['status', 'createdAt', 'expiresAt', 'endedAt', 'approvedBy', 'consumptionId', 'senderMismatchAt'] as const),
    ...(['otpDigests', 'otpSends', 'otpAttempts', 'otpSentAt'] as const),
    ...(['createdXid', 'rcsXid', 'endedXid'] as const),
  ],
});

/** A locked row with the columns of codes. */
export type CodeRow = TimedRow & Pick<SessionEntity, (typeof CODE_COLUMNS)[number]>;

const CODE_COLUMNS = ['otpSends', 'otpAttempts', 'otpAttemptLimit', 'otpSentAt'] as const;

/**
 * Inserts new sessions, all pending, and returns their creation times. An id that exists was written by an earlier
 * run of the same command: it is left unchanged and not returned. $1 JSON array of rows (see `insertRow`).
 */
export const INSERT_SESSIONS = prepared(`
  INSERT INTO sessions (${NEW.columns}, status, created_at, expires_at)
  SELECT ${NEW.values}, 'pending', created, created + make_interval(secs => "ttlSeconds")
  FROM (SELECT *, ${NOW} AS created
    FROM json_to_recordset($1::json) AS input (${NEW.types}, "ttlSeconds" integer)) AS stamped
  ON CONFLICT (id) DO NOTHING
  RETURNING id, created_at AS "createdAt"`);

/** One session of one tenant. $1 id, $2 account, $3 whether of a test key. */
export const FIND_SESSION = `SELECT ${COLUMNS}, ${NOW} AS now FROM sessions
  WHERE id = $1 AND account_id = $2 AND test = $3`;

/** Sessions in no particular order. $1 ids, $2 and $3 their bounds. */
export const FIND_SESSIONS = onDays(
  'sessions',
  [2, 3],
  (sessions) => `
  SELECT ${COLUMNS}, ${NOW} AS now FROM ${sessions} WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`,
);

/** Sessions with these columns, in id order, each with the clock as it is after its lock. $1 ids, $2 and $3 their bounds. */
const lockSessions = (columns: string, lock: 'FOR UPDATE' | 'FOR SHARE'): string =>
  onDays(
    'sessions',
    [2, 3],
    (sessions) => `
  WITH locked AS MATERIALIZED (
    SELECT ${columns} FROM ${sessions} WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 ORDER BY id ${lock})
  SELECT *, ${NOW} AS now FROM locked`,
  );

/**
 * As FIND_SESSIONS, after the transactions that are changing them. An approval whose clock was read before `expires_at` may commit
 * after it: a pending session past `expires_at` is read again so, before it is shown as expired.
 */
export const FIND_SETTLED_SESSIONS = lockSessions(COLUMNS, 'FOR SHARE');

export const LOCK_SESSIONS = lockSessions(COLUMNS, 'FOR UPDATE');

/** As LOCK_SESSIONS, for sessions that are to end. */
export const LOCK_TO_END = lockSessions(TO_END, 'FOR UPDATE');

/** As LOCK_SESSIONS, with the columns of codes. */
export const LOCK_FOR_CODES = lockSessions(columnsOf(SessionEntity, { with: CODE_COLUMNS }), 'FOR UPDATE');

/**
 * Adds a code to a pending session, guarded by the number of codes read under its lock, and returns its id. $1 id, $2
 * the code's digest, $3 codes sent before, $4 time, $5 maximum number of codes.
 */
export const ADD_CODE = onDays(
  'sessions',
  [1],
  (sessions) => `
  UPDATE ${sessions} SET otp_digests = array_append(otp_digests, $2::bytea), otp_sends = otp_sends + 1, otp_sent_at = $4
  WHERE id = $1 AND coalesce(status = 'pending', false) AND otp_sends = $3 AND otp_sends < $5
  RETURNING id`,
);

/**
 * Counts one attempt on each of some pending sessions and returns the digests to compare: no digest is read before
 * its attempt is counted. $1 ids, $2 and $3 their bounds.
 */
export const COUNT_ATTEMPTS = onDays(
  'sessions',
  [2, 3],
  (sessions) => `
  UPDATE ${sessions} SET otp_attempts = otp_attempts + 1
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND coalesce(status = 'pending', false)
    AND otp_attempts < otp_attempt_limit
  RETURNING id, otp_digests AS digests, otp_attempts AS attempts`,
);

/** A session whose attempt was counted. */
export interface AttemptRow {
  readonly id: string;
  readonly digests: readonly Buffer[];
  readonly attempts: number;
}

/**
 * Locks the sessions of some token digests in id order and reads the clock for each after its lock. $1 digests, $2 and $3
 * bounds of the ids, of one day. $4 whether sessions of test keys are searched, or live ones.
 *
 * Each bound is an ANY over one element: it prunes partitions like a plain comparison, but the planner does not
 * estimate two of them as a narrow range. With a narrow range, on a partition without statistics (each new day, for a
 * minute), it reads all ids of the day: 64 digests among 20,000 sessions took 5.5 ms, now 0.3 ms, among 200,000 too.
 */
export const LOCK_BY_DIGEST = onDays(
  'sessions',
  [2],
  (sessions) => `
  WITH locked AS MATERIALIZED (
    SELECT ${TO_END}, encode(token_digest, 'hex') AS digest
    FROM unnest($1::bytea[]) AS wanted (digest) JOIN ${sessions} ON sessions.token_digest = wanted.digest
    WHERE id >= ANY (ARRAY[$2]::uuid[]) AND id <= ANY (ARRAY[$3]::uuid[]) AND test = $4
    ORDER BY id FOR UPDATE OF sessions)
  SELECT *, ${NOW} AS now FROM locked`,
);

/**
 * Locks pending sessions past `expires_at`, skipping those locked by others. The condition uses the statement's time,
 * which an index can serve; the decision uses the clock read after the lock. $1 maximum rows, $2 lowest id, $3 first
 * id that cannot exist yet, $4 how many seconds ago they expired at most, null for all: the index keeps entries of ended sessions while a
 * transaction with an older snapshot is open, and without a bound all of them are read.
 */
export const LOCK_DUE = `
  WITH locked AS MATERIALIZED (
    SELECT ${TO_END} FROM sessions
    WHERE status = 'pending' AND expires_at <= statement_timestamp() AND id >= $2 AND id < $3
      AND expires_at > coalesce(statement_timestamp() - make_interval(secs => $4), '-infinity')
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  SELECT *, ${NOW} AS now FROM locked`;

/**
 * Ends pending sessions, deletes their code digests, and returns the ids that it ended. $1 new status, $2 approving
 * evidence or null, $3 ids, $4 times in the same order.
 *
 * Ids prune the partitions as bounds would: by bounds alone, on a partition without statistics, the planner reads
 * every pending session between them (73 ms for 64 among 200,000, against 1.4 ms). With bounds beside the ids, or a
 * status that it can estimate, it expects one row and chooses a nested loop (48 µs for each of a set of 64, against
 * 27).
 */
export const END_SESSIONS = onDays(
  'sessions',
  [3],
  (sessions) => `
  UPDATE ${sessions} SET status = $1, approved_by = $2, ended_at = ending.at, otp_digests = NULL, ended_xid = ${CURRENT_XID}
  FROM unnest($3::uuid[], $4::timestamptz[]) AS ending (id, at)
  WHERE sessions.id = ending.id AND sessions.id = ANY ($3::uuid[]) AND coalesce(sessions.status = 'pending', false)
  RETURNING sessions.id`,
);

/**
 * Marks approved sessions as consumed, each once, and returns the ids with this call's consumption id: a second run
 * of the same command finds its own write. $1 ids, $2 consumption ids in the same order, $3 and $4 bounds of $1.
 */
export const CONSUME_SESSIONS = onDays(
  'sessions',
  [3, 4],
  (sessions) => `
  UPDATE ${sessions} SET consumption_id = coalesce(sessions.consumption_id, consumed.by)
  FROM unnest($1::uuid[], $2::uuid[]) AS consumed (id, by)
  WHERE sessions.id = consumed.id AND sessions.id = ANY ($1::uuid[]) AND sessions.id BETWEEN $3 AND $4
    AND sessions.status = 'approved' AND coalesce(sessions.consumption_id, consumed.by) = consumed.by
  RETURNING sessions.id`,
);

/**
 * Sets the channel of live pending sessions to RCS after their card was delivered within the grace period. Returns the
 * changed ids. Locks in id order, as everywhere. $1 ids to lock, $2 and $3 their bounds, $4 ids to change; others are
 * only locked.
 */
export const SET_CHANNEL_RCS = onDays(
  'sessions',
  [2, 3],
  (sessions) => `
  WITH locked AS MATERIALIZED (
    SELECT id FROM ${sessions} WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 ORDER BY id FOR UPDATE)
  UPDATE ${sessions} SET channel = 'rcs', rcs_xid = ${CURRENT_XID} FROM locked
  WHERE sessions.id = locked.id AND sessions.id = ANY ($1::uuid[]) AND sessions.id BETWEEN $2 AND $3
    AND sessions.id = ANY ($4::uuid[]) AND coalesce(sessions.status = 'pending', false)
    AND sessions.channel = 'sms_fallback' AND NOT sessions.test
  RETURNING sessions.id`,
);

/**
 * Records the first sender mismatch of pending sessions, once each, and returns the changed ids. $1 ids, $2 times in
 * the same order, $3 and $4 bounds of the ids.
 */
export const RECORD_MISMATCH = `
  UPDATE sessions SET sender_mismatch_at = seen.at
  FROM unnest($1::uuid[], $2::timestamptz[]) AS seen (id, at)
  WHERE sessions.id = seen.id AND sessions.id = ANY ($1::uuid[]) AND sessions.id BETWEEN $3 AND $4
    AND sessions.status = 'pending' AND sessions.sender_mismatch_at IS NULL
  RETURNING sessions.id`;
