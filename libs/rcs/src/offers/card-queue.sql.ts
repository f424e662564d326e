/** Unix milliseconds: whoever looks may be a machine whose clock is wrong. */
export const READ_CLOCK = `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/**
 * Cards that wait for a gateway or are on their way to the platform, and how long the oldest has waited. What is older than
 * a session may be is left out: nobody waits for it. $1 lowest id looked at, $2 first that cannot exist yet.
 */
export const CARD_DEPTH = `
  SELECT count(*) FILTER (WHERE state = 'offered')::int AS waiting, count(*) FILTER (WHERE state = 'sending')::int AS "inFlight",
    0 AS failed, extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE state = 'offered'))::float8 AS "oldestAgeSeconds"
  FROM cards WHERE id >= $1 AND id < $2 AND state IN ('offered', 'sending') AND settled_at IS NULL`;
