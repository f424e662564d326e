/** Admin keys that are not revoked. $1 digests, of each key under each version of the master key. */
export const FIND_ADMIN_KEYS = `
  SELECT id AS "keyId", name, role, digest_version AS "digestVersion", encode(digest, 'hex') AS digest FROM admin_keys
  WHERE digest = ANY ($1::bytea[]) AND revoked_at IS NULL`;

/** The admin keys that are not revoked, with their digests in hex. $1 ids. */
export const FIND_LIVE_ADMIN_KEYS = `
  SELECT id, encode(digest, 'hex') AS digest, role FROM admin_keys WHERE id = ANY ($1::uuid[]) AND revoked_at IS NULL`;

/** The role of a key, which stays as it is until the transaction ends. $1 id, $2 digests in hex of which it has one. */
export const HOLD_ADMIN_KEY = `
  SELECT role FROM admin_keys WHERE id = $1 AND encode(digest, 'hex') = ANY ($2::text[]) AND revoked_at IS NULL FOR SHARE`;

/** Ends the console sessions of an admin key. $1 id. */
export const END_SESSIONS_OF_KEY = `DELETE FROM console_sessions WHERE admin_key_id = $1`;
