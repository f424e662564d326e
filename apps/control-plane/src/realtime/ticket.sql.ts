import { isLiveKey } from '@countersign/accounts/accounts';

/** The clock of tickets, truncated because a rounded reading could lie in the future. */
const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/**
 * Inserts new tickets and returns the expiry of each. Idempotent by digest. $1 keyed digests, $2 sessions, $3 accounts,
 * $6 whether of test keys, and $5 issuing keys, all in the same order; $4 lifetime in seconds.
 */
export const INSERT_TICKETS = `
  INSERT INTO realtime_tickets (digest, session_id, account_id, test, key_id, created_at, expires_at)
  SELECT digest, session_id, account_id, test, key_id, now, now + make_interval(secs => $4)
  FROM unnest($1::bytea[], $2::uuid[], $3::uuid[], $5::uuid[], $6::boolean[])
      AS new (digest, session_id, account_id, key_id, test),
    (SELECT ${NOW} AS now) AS clock
  ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest
  RETURNING encode(digest, 'hex') AS digest, expires_at AS "expiresAt"`;

/**
 * Redeems unused, unexpired tickets whose key is not revoked, and returns their scopes. $1 keyed digests. Locks rows in
 * digest order, so that two sets cannot deadlock.
 */
export const REDEEM_TICKETS = `
  WITH locked AS MATERIALIZED (
    SELECT digest FROM realtime_tickets WHERE digest = ANY ($1::bytea[]) ORDER BY digest FOR UPDATE)
  UPDATE realtime_tickets SET used_at = ${NOW} FROM locked
  WHERE realtime_tickets.digest = locked.digest AND used_at IS NULL AND expires_at > ${NOW}
    AND ${isLiveKey('realtime_tickets.key_id')}
  RETURNING encode(realtime_tickets.digest, 'hex') AS digest, session_id AS "sessionId",
    realtime_tickets.account_id AS "accountId", realtime_tickets.test, key_id AS "keyId"`;

/** Deletes up to $1 tickets that expired more than $2 seconds ago. */
export const PURGE_TICKETS = `
  DELETE FROM realtime_tickets WHERE digest = ANY (ARRAY(
    SELECT digest FROM realtime_tickets WHERE expires_at < clock_timestamp() - make_interval(secs => $2)
    ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
  RETURNING encode(digest, 'hex') AS digest`;
