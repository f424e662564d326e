/** The database clock, truncated to milliseconds because a rounded reading could lie in the future. */
export const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/**
 * Whether a time is of the past, but for a correction of the clock. Times of phones, agents and recipients are written as the
 * clock reads: a later one is ignored, and replaced by the next that is written. Null for a null.
 */
export const isPast = (time: string): string => `${time} < clock_timestamp() + interval '1 minute'`;

/** The columns that a gateway needs to send a card. */
export const CARD = `id, account_id AS "accountId", brand_id AS "brandId", waiter AS "originProcess", agent_id AS "agentId", phone,
  brand_name AS "brandName", logo_url AS "logoUrl", number_matching AS "numberMatching", key_version AS "keyVersion",
  message_id AS "messageId", expires_at AS "expiresAt"`;

/**
 * Locks cards in id order. Every transaction locks cards before sessions and phones. $1 ids, $2 and $3 their bounds.
 */
export const LOCK_CARDS = `
  SELECT id FROM cards WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 ORDER BY id FOR UPDATE`;

/**
 * Removes cards that never reached their phones from the recent cards of these phones. Phones are locked in phone order.
 * $1 phones, $2 ids of the cards in the same order.
 */
export const REFUND_CARDS = `
  WITH refund AS (SELECT phone, array_agg(id) AS ids FROM unnest($1::text[], $2::uuid[]) AS input (phone, id)
    GROUP BY phone),
  locked AS MATERIALIZED (SELECT phone FROM card_phones WHERE phone = ANY ($1::text[]) ORDER BY phone FOR UPDATE)
  UPDATE card_phones SET recent = ARRAY(SELECT card_id FROM unnest(card_phones.recent) AS card_id WHERE card_id <> ALL (refund.ids))
  FROM refund JOIN locked ON locked.phone = refund.phone
  WHERE card_phones.phone = refund.phone`;
