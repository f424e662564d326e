/** Tables of keys with a time of last use. */
export type KeyTable = 'api_keys' | 'admin_keys';

/**
 * Keys that were used just now. One whose row is locked is being changed or marked by somebody else this moment; it is
 * marked with the next use. $1 ids.
 */
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
