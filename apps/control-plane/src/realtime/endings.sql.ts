/**
 * The events that ended some sessions. $1 sessions, $2 types of events, $3 and $4 bounds of the ids of the events: an
 * event's id is of the time it was written, so these are the seconds since the first of the sessions ended.
 */
export const FIND_ENDINGS = `
  SELECT id, type, session_id AS "sessionId", account_id AS "accountId", test,
    occurred_at AS "occurredAt"
  FROM events
  WHERE id BETWEEN $3 AND $4 AND session_id = ANY ($1::uuid[]) AND type = ANY ($2::text[])`;
