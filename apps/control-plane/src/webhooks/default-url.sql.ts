/** Whether a URL has taken anything since it began to fail. $1 account, $2 URL, $3 since when, $4 lowest id looked at. */
export const SUCCEEDED_SINCE = `
  SELECT 1 AS found FROM deliveries
  WHERE account_id = $1 AND id >= $4 AND url = $2 AND status = 'succeeded' AND ended_at > $3
  LIMIT 1`;
