/** Tables of keys with a time of last use. */
export type KeyTable = 'api_keys' | 'admin_keys';

/** Marks keys that were just used. A locked row is being changed or marked; it is marked at the next use. $1 ids. */
const markUsed = (table: KeyTable): string => `
  WITH used AS (
    SELECT id FROM ${table} WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE ${table} SET last_used_at = date_trunc('milliseconds', clock_timestamp()) FROM used
  WHERE ${table}.id = used.id`;

export const MARK_KEYS_USED: Readonly<Record<KeyTable, string>> = {
  api_keys: markUsed('api_keys'),
  admin_keys: markUsed('admin_keys'),
};

/**
 * Renews digests of keys, each only if the row still has the digest that was read. $1 ids, $2 stored and $3 new
 * digests in the same order, $4 the version of the master key of the new ones. Locked rows are renewed at the next
 * use.
 */
const renewDigests = (table: KeyTable): string => `
  WITH outdated AS (
    SELECT wanted.* FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS wanted (id, stored, renewed)
      JOIN ${table} ON ${table}.id = wanted.id AND ${table}.digest = wanted.stored
    ORDER BY wanted.id FOR NO KEY UPDATE OF ${table} SKIP LOCKED
  )
  UPDATE ${table} SET digest = outdated.renewed, digest_version = $4 FROM outdated
  WHERE ${table}.id = outdated.id AND ${table}.digest = outdated.stored`;

export const RENEW_DIGESTS: Readonly<Record<KeyTable, string>> = {
  api_keys: renewDigests('api_keys'),
  admin_keys: renewDigests('admin_keys'),
};
