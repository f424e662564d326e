/**
 * Inserts the row of a link that has none. Does nothing for a deleted link. $1 id of a bind or a system.
 */
export const ENSURE_SENDER_FORMAT = `
  INSERT INTO sender_formats (link_id)
  SELECT $1 WHERE EXISTS (SELECT FROM binds WHERE id = $1) OR EXISTS (SELECT FROM smpp_systems WHERE id = $1)
  ON CONFLICT (link_id) DO NOTHING`;

/** Locks the evidence of a link, digests as hex, if its epoch is unchanged. $1 id of the link, $2 epoch. */
export const LOCK_SENDER_FORMAT = `
  SELECT learned, reading, ARRAY(SELECT encode(digest, 'hex') FROM unnest(digests) AS digest) AS digests,
    digest_version AS "digestVersion"
  FROM sender_formats WHERE link_id = $1 AND epoch = $2 FOR UPDATE`;

/**
 * Writes the evidence of a locked link. $1 id, $2 learned or null, $3 reading or null, $4 digests as hex, $5 the
 * version of the master key of the digests.
 */
export const WRITE_SENDER_FORMAT = `
  UPDATE sender_formats SET learned = $2, reading = $3,
    digests = ARRAY(SELECT decode(digest, 'hex') FROM unnest($4::text[]) AS digest), digest_version = $5,
    learned_at = CASE WHEN $2::text IS NULL THEN NULL ELSE clock_timestamp() END
  WHERE link_id = $1`;

/**
 * Discards the evidence of a link. The new epoch invalidates evidence in the memory of gateways. $1 id of the link.
 */
export const DISCARD_SENDER_FORMAT = `
  INSERT INTO sender_formats (link_id, epoch) VALUES ($1, 1)
  ON CONFLICT (link_id) DO UPDATE SET epoch = sender_formats.epoch + 1, learned = NULL, learned_at = NULL,
    reading = NULL, digests = '{}'`;
