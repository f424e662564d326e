/**
 * Whether a URL has taken anything since it began to fail, among deliveries of some time. $1 account, $2 URL, $3 since
 * when, $4 and $5 lowest id looked at and the one behind the highest.
 */
export const SUCCEEDED_SINCE = `
  SELECT 1 AS found FROM deliveries
  WHERE account_id = $1 AND NOT test AND status = 'succeeded' AND id >= $4 AND id < $5 AND url = $2 AND ended_at > $3
  LIMIT 1`;

/**
 * Whether a URL has taken anything in the last moments. By the index of bodies, which are kept for days: what has just ended
 * is at its end. $1 account, $2 URL, $3 since when, $4 lowest id looked at.
 */
export const SUCCEEDED_JUST_NOW = `
  SELECT 1 AS found FROM deliveries
  WHERE body_sealed IS NOT NULL AND ended_at > $3 AND id >= $4 AND account_id = $1 AND NOT test AND status = 'succeeded' AND url = $2
  LIMIT 1`;
