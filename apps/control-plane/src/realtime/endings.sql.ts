/**
 * The terminal events of sessions. $1 sessions, $2 types of events, $3 and $4 bounds of the event ids: the id of an
 * event contains the time it was written, so the bounds are the time since the first of the sessions ended.
 */
export const FIND_ENDINGS = `
  SELECT id, type, session_id AS "sessionId", account_id AS "accountId", test,
    occurred_at AS "occurredAt"
  FROM events
  WHERE id BETWEEN $3 AND $4 AND session_id = ANY ($1::uuid[]) AND type = ANY ($2::text[])`;
