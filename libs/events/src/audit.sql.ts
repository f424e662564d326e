/**
 * Writes one audit entry, with the database's time. $1 id, $2 actor, $3 action, $4 resource, $5 its rendered id, $6
 * before and $7 after as JSON text or null, $8 request id.
 */
export const APPEND_AUDIT = `
  INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after, request_id)
  VALUES ($1, date_trunc('milliseconds', clock_timestamp()), $2, $3, $4, $5, $6::json, $7::json, $8)`;

/** The columns of an audit entry; both states as their original JSON text. */
export const AUDIT_ENTRY = `id, at, actor, action, resource, resource_id AS "resourceId", before::text AS before,
  after::text AS after, request_id AS "requestId"`;
