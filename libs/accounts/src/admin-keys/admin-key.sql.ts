/** All columns of an admin key except its digest. */
export const ADMIN_KEY = `id, name, role, prefix, last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"`;

/** Admin keys that are not revoked. $1 digests, of each key under each version of the master key. */
export const FIND_ADMIN_KEYS = `
  SELECT id AS "keyId", name, role, digest_version AS "digestVersion", encode(digest, 'hex') AS digest FROM admin_keys
  WHERE digest = ANY ($1::bytea[]) AND revoked_at IS NULL`;

/** The admin keys that are not revoked, with their digests in hex. $1 ids. */
export const FIND_LIVE_ADMIN_KEYS = `
  SELECT id, encode(digest, 'hex') AS digest FROM admin_keys WHERE id = ANY ($1::uuid[]) AND revoked_at IS NULL`;

/** $1 id, $2 name, $3 role, $4 prefix for listings, $5 keyed digest, $6 the version of the master key that made it. */
export const INSERT_ADMIN_KEY = `
  INSERT INTO admin_keys (id, name, role, prefix, digest, digest_version) VALUES ($1, $2, $3, $4, $5, $6)
  RETURNING ${ADMIN_KEY}`;

/** $1 id, $2 name, $3 role. */
export const UPDATE_ADMIN_KEY = `UPDATE admin_keys SET name = $2, role = $3 WHERE id = $1 RETURNING ${ADMIN_KEY}`;

/** Replaces the text of a key that is not revoked. $1 id, $2 prefix for listings, $3 keyed digest, $4 its version. */
export const ROTATE_ADMIN_KEY = `
  UPDATE admin_keys SET prefix = $2, digest = $3, digest_version = $4 WHERE id = $1 AND revoked_at IS NULL
  RETURNING ${ADMIN_KEY}`;

/** Revokes a key, once. $1 id. */
export const REVOKE_ADMIN_KEY = `
  UPDATE admin_keys SET revoked_at = date_trunc('milliseconds', clock_timestamp())
  WHERE id = $1 AND revoked_at IS NULL RETURNING ${ADMIN_KEY}`;
