export const PRICE = `id, channel, country, usd::text AS usd, from_at AS "from"`;

const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/** Starts a new span of the price in the CTE `written`, at the given time. */
const heldFrom = (moment: string): string => `
  held AS (
    INSERT INTO price_spans (price_id, channel, country, usd, from_at, held_from)
    SELECT id, channel, country, usd, from_at, ${moment} FROM written)`;

/** Ends the span of a price ($1) now; a span that has not started becomes empty. */
const HELD_UNTIL_NOW = `
  ended AS (
    UPDATE price_spans SET held_until = greatest(held_from, ${NOW}) WHERE price_id = $1 AND held_until IS NULL)`;

/** $1 id, $2 channel, $3 country, $4 US dollars, $5 start, or null for now. */
export const INSERT_PRICE = `
  WITH written AS (
    INSERT INTO prices (id, channel, country, usd, from_at)
    VALUES ($1, $2, $3, $4::numeric, coalesce($5, ${NOW})) RETURNING *),
  ${heldFrom('from_at')}
  SELECT ${PRICE} FROM written`;

/** Earlier events keep their price. $1 id, $2 US dollars, $3 start. */
export const UPDATE_PRICE = `
  WITH written AS (UPDATE prices SET usd = $2::numeric, from_at = $3 WHERE id = $1 RETURNING *),
  ${HELD_UNTIL_NOW},
  ${heldFrom(`greatest(from_at, ${NOW})`)}
  SELECT ${PRICE} FROM written`;

/** Earlier events keep their price. $1 id. */
export const DELETE_PRICE = `
  WITH written AS (DELETE FROM prices WHERE id = $1 RETURNING id),
  ${HELD_UNTIL_NOW}
  SELECT id FROM written`;

/** Locks an active price of codes for every country. $1 a price to exclude, or null. */
export const LOCK_EVERY_COUNTRY_PRICE = `
  SELECT id FROM prices
  WHERE channel = 'sms_otp' AND country = '*' AND from_at <= clock_timestamp() AND id IS DISTINCT FROM $1::uuid
  ORDER BY from_at DESC LIMIT 1 FOR SHARE`;

/**
 * Whether a price is active and of codes for every country, and whether $2 is not in the future. $1 id, $2 time or
 * null.
 */
export const PRICE_OF_CODES = `
  SELECT channel = 'sms_otp' AND country = '*' AND from_at <= clock_timestamp() AS "everyCountry",
    coalesce($2::timestamptz <= clock_timestamp(), false) AS "startsInTime"
  FROM prices WHERE id = $1`;

/** An account with a daily spend cap, if there is any. */
export const CAPPED_ACCOUNT = `SELECT id FROM accounts WHERE otp_daily_spend_cap_usd IS NOT NULL LIMIT 1`;
