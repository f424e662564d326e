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
