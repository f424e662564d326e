export const PRICE = `id, channel, country, usd::text AS usd, from_at AS "from"`;

/** $1 id, $2 channel, $3 country, $4 US dollars, $5 from when, or null for now. */
export const INSERT_PRICE = `
  INSERT INTO prices (id, channel, country, usd, from_at)
  VALUES ($1, $2, $3, $4::numeric, coalesce($5, date_trunc('milliseconds', clock_timestamp()))) RETURNING ${PRICE}`;

/** $1 id, $2 US dollars, $3 from when. */
export const UPDATE_PRICE = `UPDATE prices SET usd = $2::numeric, from_at = $3 WHERE id = $1 RETURNING ${PRICE}`;

/** $1 id. */
export const DELETE_PRICE = `DELETE FROM prices WHERE id = $1 RETURNING id`;
