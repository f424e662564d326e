/** Every time at which a price changes, oldest first. */
export const CHANGES = `
  changes AS MATERIALIZED (
    SELECT coalesce(array_agg(at ORDER BY at), '{}')::timestamptz[] AS at
    FROM (SELECT held_from FROM price_spans UNION SELECT held_until FROM price_spans WHERE held_until IS NOT NULL)
      AS moments (at))`;

/**
 * The index of the last price change before a session was created, 0 for none. Sessions are grouped by it and each group is
 * priced once, because a price lookup per session would cost more than the rest of the statement.
 */
export const EPOCH = `width_bucket(sessions.created_at, (SELECT at FROM changes)) AS epoch`;

/** The price of a channel in the epoch of a row: the country's own, else the price for all countries, else none. */
export const priceOf = (row: string): string => `
  LEFT JOIN LATERAL (
    SELECT usd FROM price_spans AS held CROSS JOIN LATERAL (SELECT at[${row}.epoch] AS moment FROM changes) AS change
    WHERE held.channel = ${row}.channel AND held.country IN (${row}.country, '*')
      AND held.held_from <= moment AND (held.held_until > moment) IS NOT FALSE
    ORDER BY held.country = '*', held.from_at DESC, held.held_until DESC NULLS FIRST LIMIT 1) AS price ON true`;
