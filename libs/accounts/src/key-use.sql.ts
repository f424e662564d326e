/**
 * Keys that were used just now. One whose row is locked is being changed or marked by somebody else this moment; it is
 * marked with the next use. $1 ids.
 */
export const MARK_KEYS_USED = `
  WITH used AS (
    SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE api_keys SET last_used_at = date_trunc('milliseconds', clock_timestamp()) FROM used
  WHERE api_keys.id = used.id`;

/**
 * Writes digests of keys anew, each only where the row still has the digest that was seen. $1 ids, $2 stored and $3 new
 * digests in the same order, $4 the version of the master key of the new ones. Locked rows are left to the next use.
 */
export const RENEW_DIGESTS = `
  WITH outdated AS (
    SELECT wanted.* FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS wanted (id, stored, renewed)
      JOIN api_keys ON api_keys.id = wanted.id AND api_keys.digest = wanted.stored
    ORDER BY wanted.id FOR NO KEY UPDATE OF api_keys SKIP LOCKED
  )
  UPDATE api_keys SET digest = outdated.renewed, digest_version = $4 FROM outdated
  WHERE api_keys.id = outdated.id AND api_keys.digest = outdated.stored`;
