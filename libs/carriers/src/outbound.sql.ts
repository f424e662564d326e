/**
 * Queues a message, due at once. $1 id, $2 session, $3 account, $4 test, $5 destination, $6 its block, $7 country,
 * $8 sender, $9 sealed text, $10 when it was asked for, $11 when its session ends.
 */
export const INSERT_OUTBOUND = `
  INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
    text_sealed, created_at, expires_at, next_attempt_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10)`;
