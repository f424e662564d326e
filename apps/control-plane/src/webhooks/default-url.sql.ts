/**
 * Finds a delivery to a URL that succeeded after the URL began to fail. $1 account, $2 URL, $3 time since when it fails, $4
 * lowest id, $5 upper bound of the ids (exclusive).
 */
export const SUCCEEDED_SINCE = `
  SELECT 1 AS found FROM deliveries
  WHERE account_id = $1 AND NOT test AND status = 'succeeded' AND id >= $4 AND id < $5 AND url = $2 AND ended_at > $3
  LIMIT 1`;

/**
 * Finds a delivery to a URL that succeeded just now, at the end of the index of bodies, which are kept for days. $1 account,
 * $2 URL, $3 earliest end of the delivery, $4 lowest id.
 */
export const SUCCEEDED_JUST_NOW = `
  SELECT 1 AS found FROM deliveries
  WHERE body_sealed IS NOT NULL AND ended_at > $3 AND id >= $4 AND account_id = $1 AND NOT test AND status = 'succeeded' AND url = $2
  LIMIT 1`;
