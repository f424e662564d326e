/**
 * Claims keys for the time of a lease and returns the claimed keys, each with the id of the resource of its request. A
 * key is free when it has no row, when its claim was released or its lease is over, or when it is a day old. A recent
 * unfinished request with the same body passes its resource id on, so that the next attempt finds the resource. The WHERE
 * is evaluated under the row's lock, so the clock is read after it. A statement that runs twice finds its own claim.
 *
 * $1 digests, $2 accounts, $3 fingerprints, $4 new ids, $5 claims, $9 versions of the master key that digests are made
 * with, $10 whether of test keys, in the same order; $6 lease in seconds, $7 hours for which an answer is kept, $8 lowest
 * resource id that is passed on.
 */
export const CLAIM_KEYS = `
  INSERT INTO idempotency_keys AS known (digest, account_id, test, fingerprint, resource_id, claimed_by, claimed_until,
    created_at, digest_version)
  SELECT digest, account_id, test, fingerprint, resource_id, claimed_by, clock_timestamp() + make_interval(secs => $6),
    clock_timestamp(), digest_version
  FROM unnest($1::bytea[], $2::uuid[], $3::bytea[], $4::uuid[], $5::uuid[], $9::smallint[], $10::boolean[])
    AS wanted (digest, account_id, fingerprint, resource_id, claimed_by, digest_version, test)
  ORDER BY digest
  ON CONFLICT (digest) DO UPDATE SET
    resource_id = CASE
      WHEN known.status IS NULL AND known.fingerprint = excluded.fingerprint AND known.resource_id >= $8
      THEN known.resource_id ELSE excluded.resource_id END,
    fingerprint = excluded.fingerprint, claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until,
    created_at = excluded.created_at, status = NULL, body_sealed = NULL
  WHERE known.created_at <= clock_timestamp() - make_interval(hours => $7)
    OR (known.status IS NULL AND (known.claimed_until IS NULL OR known.claimed_until <= clock_timestamp()
      OR known.claimed_by = excluded.claimed_by))
  RETURNING digest, resource_id AS "resourceId"`;

/**
 * Writes to claimed keys the resource id of an earlier attempt under another version of the master key.
 * $1 digests, $2 claims, $3 ids, in the same order.
 */
export const ADOPT_RESOURCES = `
  UPDATE idempotency_keys AS known SET resource_id = adopted.resource_id
  FROM unnest($1::bytea[], $2::uuid[], $3::uuid[]) AS adopted (digest, claimed_by, resource_id)
  WHERE known.digest = adopted.digest AND known.claimed_by = adopted.claimed_by`;

/** The stored state of keys. $1 digests. */
export const READ_KEYS = `
  SELECT digest, fingerprint, status, body_sealed AS "bodySealed" FROM idempotency_keys WHERE digest = ANY ($1::bytea[])`;

/**
 * Ends claims of their owners: an answer is stored with the key, a freed key is deleted, and any other key can be claimed
 * again at once. Rows are locked in the same order as in CLAIM_KEYS.
 * $1 digests, $2 claims, $3 statuses or null, $4 sealed bodies or null, $5 whether the key is freed; in the same order.
 */
export const END_CLAIMS = `
  WITH ending AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::smallint[], $4::bytea[], $5::boolean[])
      AS given (digest, claimed_by, status, body_sealed, freed)),
  locked AS MATERIALIZED (
    SELECT ending.* FROM ending JOIN idempotency_keys AS known USING (digest, claimed_by)
    ORDER BY digest FOR UPDATE OF known),
  freed AS (DELETE FROM idempotency_keys AS known USING locked WHERE known.digest = locked.digest AND locked.freed)
  UPDATE idempotency_keys AS known
  SET claimed_by = NULL, claimed_until = NULL, status = locked.status, body_sealed = locked.body_sealed
  FROM locked WHERE known.digest = locked.digest AND NOT locked.freed`;

/**
 * Counts the sampled keys of an account in one mode, up to a limit. The sample is the keys whose first digest octet is
 * below 4 (1 in 64), as in the predicate of the index idempotency_keys_sample.
 * $1 account, $2 whether of test keys, $3 hours for which a key is kept, $4 limit.
 */
export const COUNT_SAMPLE = `
  SELECT count(*)::int AS keys FROM (SELECT 1 FROM idempotency_keys
    WHERE account_id = $1 AND test = $2 AND get_byte(digest, 0) < 4
      AND created_at > statement_timestamp() - make_interval(hours => $3) LIMIT $4) AS sampled`;

/** Deletes keys that are too old to be replayed. $1 hours for which an answer is kept, $2 how many at most. */
export const PURGE_KEYS = `
  DELETE FROM idempotency_keys WHERE digest IN (
    SELECT digest FROM idempotency_keys WHERE created_at <= clock_timestamp() - make_interval(hours => $1)
    ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING digest`;
