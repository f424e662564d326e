/**
 * Inserts or finds the rows of long messages, and locks them in key order, so that gateways handle parts of one
 * message one after the other. `stale`: the row belongs to an older message with the same reference,
 * or has a time that no process writes. $1 keys, $2
 * totals in the same order, $3 seconds after which parts no longer belong together.
 */
export const LOCK_WHOLES = `
  INSERT INTO concatenations AS whole (key, total, updated_at)
  SELECT key, total, clock_timestamp() FROM unnest($1::bytea[], $2::smallint[]) AS input (key, total) ORDER BY key
  ON CONFLICT (key) DO UPDATE SET total = whole.total
  RETURNING encode(key, 'hex') AS key, 
    updated_at < clock_timestamp() - make_interval(secs => $3) OR updated_at > clock_timestamp() + interval '1 minute' AS stale`;

/** Deletes the parts of older messages. $1 keys, already locked. */
export const DELETE_PARTS = `DELETE FROM concatenation_parts WHERE key = ANY ($1::bytea[])`;

/**
 * The neighbours of some parts of long messages: on each side the nearest ones, up to a total text length. $1 keys
 * and $2 part numbers in the same order, $3 octets that sealing adds to a text in layout 1 (layout 2 adds one more,
 * and the first octet is the layout), $4 part numbers to read on each side, $5 octets of text that suffice per side.
 */
export const READ_NEIGHBOURS = `
  SELECT DISTINCT encode(part.key, 'hex') AS key, near.number, near.text_sealed AS "textSealed"
  FROM unnest($1::bytea[], $2::smallint[]) AS part (key, number)
    CROSS JOIN LATERAL (
      SELECT part_number AS number, text_sealed, sum(octet_length(text_sealed) - $3::int - get_byte(text_sealed, 0) + 1) OVER (
          PARTITION BY part_number > part.number ORDER BY abs(part_number - part.number)
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS nearer_octets
      FROM concatenation_parts AS other
      WHERE other.key = part.key AND part_number <> part.number
        AND part_number BETWEEN part.number - $4::int AND part.number + $4::int) AS near
  WHERE coalesce(near.nearer_octets, 0) < $5::int`;

/**
 * Stores parts and updates the time of their messages. A repeated part replaces the first: it is the same, or it
 * belongs to a newer message of a phone that reuses references. $1 keys, $2 part numbers and $3 sealed texts in the
 * same order, each pair of key and number once; $4 all keys of these messages.
 */
export const STORE_PARTS = `
  WITH alive AS (UPDATE concatenations SET updated_at = clock_timestamp() WHERE key = ANY ($4::bytea[]))
  INSERT INTO concatenation_parts (key, part_number, text_sealed)
  SELECT key, part_number, text_sealed FROM unnest($1::bytea[], $2::smallint[], $3::bytea[])
    AS input (key, part_number, text_sealed)
  ON CONFLICT (key, part_number) DO UPDATE SET text_sealed = excluded.text_sealed`;

/** Parts of incomplete long messages. $1 maximum number of messages to read. */
export const COUNT_WAITING_PARTS = `
  SELECT coalesce(sum(present), 0)::int AS parts FROM (
    SELECT count(*) AS present FROM (SELECT key, total FROM concatenations LIMIT $1) AS whole
      JOIN concatenation_parts AS part ON part.key = whole.key
    GROUP BY whole.key, whole.total HAVING count(*) < whole.total) AS waiting`;

/** Deletes long messages without a new part for a while, or with a time that no process writes. $1 seconds, $2 maximum rows. */
export const PURGE_WHOLES = `
  DELETE FROM concatenations WHERE key IN (
    SELECT key FROM concatenations WHERE updated_at < statement_timestamp() - make_interval(secs => $1)
      OR updated_at > statement_timestamp() + interval '1 minute'
    ORDER BY key LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING total`;
