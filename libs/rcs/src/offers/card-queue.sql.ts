/** Unix milliseconds of the database clock: the clock of the calling machine may be wrong. */
export const READ_CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/**
 * Cards that wait for a gateway or are being sent, and the age of the oldest waiting one. Cards older than the longest
 * session are excluded. $1 lowest id, $2 first id that cannot exist yet.
 */
export const CARD_DEPTH = `
  SELECT count(*) FILTER (WHERE state = 'offered')::int AS waiting, count(*) FILTER (WHERE state = 'sending')::int AS "inFlight",
    0 AS failed, extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE state = 'offered'))::float8 AS "oldestAgeSeconds"
  FROM cards WHERE id >= $1 AND id < $2 AND state IN ('offered', 'sending') AND settled_at IS NULL`;
