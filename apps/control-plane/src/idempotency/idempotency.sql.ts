/**
 * Claims keys for as long as a lease and gives those that it claimed, each with the id of what its request is to make.
 * A key is free when nobody has it, when its claim was let go or its lease is over, or when it is a day old. Of a request
 * that was begun before with the same body, and not too long ago, the id stays: what that one made is found again.
 * The WHERE holds the row's lock, so the clock is read after it; a claim that is run twice finds itself.
 *
 * $1 digests, $2 accounts, $3 fingerprints, $4 new ids, $5 claims, $9 versions of the master key that digests are made
 * with, $10 whether of test keys, in the same order; $6 lease in seconds, $7 hours that an answer is kept, $8 lowest id that
 * is taken up again.
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
 * Gives claimed keys the id that an earlier attempt was begun with under another version of the master key.
 * $1 digests, $2 claims, $3 ids, in the same order.
 */
export const ADOPT_RESOURCES = `
  UPDATE idempotency_keys AS known SET resource_id = adopted.resource_id
  FROM unnest($1::bytea[], $2::uuid[], $3::uuid[]) AS adopted (digest, claimed_by, resource_id)
  WHERE known.digest = adopted.digest AND known.claimed_by = adopted.claimed_by`;

/** What is known of keys that could not be claimed. $1 digests. */
export const READ_KEYS = `
  SELECT digest, fingerprint, status, body_sealed AS "bodySealed" FROM idempotency_keys WHERE digest = ANY ($1::bytea[])`;

/**
 * Ends claims, each by its owner alone: an answer is kept with the key, a refusal frees it, and without either the key
 * can be claimed again at once. Rows are locked in the order in which claims lock them.
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
 * The sampled keys of an account in one mode, counted up to a limit: those whose first digest octet is below 4
 * (1 in 64), as in the predicate of the index idempotency_keys_sample. $1 account, $2 whether of test keys, $3 hours that a key is kept, $4 limit.
 */
export const COUNT_SAMPLE = `
  SELECT count(*)::int AS keys FROM (SELECT 1 FROM idempotency_keys
    WHERE account_id = $1 AND test = $2 AND get_byte(digest, 0) < 4
      AND created_at > statement_timestamp() - make_interval(hours => $3) LIMIT $4) AS sampled`;

/** Forgets keys that are too old to be replayed, some at a time. $1 hours that an answer is kept, $2 how many at most. */
export const PURGE_KEYS = `
  DELETE FROM idempotency_keys WHERE digest IN (
    SELECT digest FROM idempotency_keys WHERE created_at <= clock_timestamp() - make_interval(hours => $1)
    ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING digest`;
