/**
 * Writes one audit entry, with the database's time. $1 id, $2 actor, $3 action, $4 resource, $5 its rendered id, $6
 * before and $7 after as JSON text or null, $8 request id.
 */
export const APPEND_AUDIT = `
  INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after, request_id)
  VALUES ($1, date_trunc('milliseconds', clock_timestamp()), $2, $3, $4, $5, $6::json, $7::json, $8)`;

/** Octets of a state that a list reads. Earlier releases stored whole certificates, of up to 64 KiB. */
const MAX_READ_OCTETS = 131_072;
/** Octets of states on a page; the entry that reaches this limit is the last. */
export const PAGE_STATE_OCTETS = 524_288;
/** Characters of each text of an entry. */
const MAX_READ_CHARACTERS = 300;

const text = (column: string, name = column): string => `left(${column}, ${MAX_READ_CHARACTERS}) AS "${name}"`;

/** The first condition needs only the length of the stored form, which may be compressed. */
const state = (column: string): string => `CASE WHEN pg_column_size(${column}) > ${MAX_READ_OCTETS}
    OR octet_length(${column}::text) > ${MAX_READ_OCTETS}
    THEN '{"unreadable": "JSON of more than ${MAX_READ_OCTETS} octets"}' ELSE ${column}::text END AS ${column}`;

/**
 * The columns of an audit entry; both states as their original JSON text. The daemons' role may append entries of any
 * size, so each column is bounded.
 */
const AUDIT_ENTRY = `id, at, ${text('actor')}, ${text('action')}, ${text('resource')},
  ${text('resource_id', 'resourceId')}, ${state('before')}, ${state('after')}, ${text('request_id', 'requestId')}`;

/**
 * The newest entries before an id, newest first, until their states reach PAGE_STATE_OCTETS; `found` is the number
 * without that limit. $1 upper bound (exclusive) or null, $2 maximum rows, $3 and following: the values of the columns,
 * whose names are constants.
 */
export function listAudit(columns: readonly string[]): string {
  const matched = columns.map((column, at) => ` AND ${column} = $${at + 3}`).join('');
  const page = `SELECT ${AUDIT_ENTRY} FROM audit_entries WHERE ($1::uuid IS NULL OR id < $1)${matched}
    ORDER BY id DESC LIMIT $2`;
  const sized = `SELECT *, coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0) AS octets
    FROM (${page}) AS page`;
  return `SELECT id, at, actor, action, resource, "resourceId", before, after, "requestId", found FROM (
      SELECT *, (count(*) OVER ())::int AS found, sum(octets) OVER (ORDER BY id DESC) - octets AS "octetsBefore"
      FROM (${sized}) AS sized) AS bounded
    WHERE "octetsBefore" < ${PAGE_STATE_OCTETS} ORDER BY id DESC`;
}
