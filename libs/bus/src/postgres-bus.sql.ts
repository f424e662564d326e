/** Everything goes through one channel: to listen costs the same for one topic as for ten thousand. */
export const BUS_CHANNEL = 'countersign_bus';

export const LISTEN = `LISTEN ${BUS_CHANNEL}`;

/**
 * Keeps payloads and tells of them: one statement is one transaction, so that who is told finds them. A notification
 * takes a lock of the whole cluster until its commit, which therefore comes at once.
 * $1 ids, $2 payloads (bytea), $3 the words of the notifications.
 */
export const SEND = `
  WITH kept AS (
    INSERT INTO bus_payloads (id, payload)
    SELECT id, payload FROM unnest($1::uuid[], $2::bytea[]) AS given (id, payload)
  )
  SELECT pg_notify('${BUS_CHANNEL}', word) FROM unnest($3::text[]) WITH ORDINALITY AS given (word, place) ORDER BY place`;

/** $1 ids. */
export const READ_PAYLOADS = `SELECT id, payload FROM bus_payloads WHERE id = ANY ($1::uuid[])`;

/** Whoever was there has read them long ago. */
export const FORGET_PAYLOADS = `DELETE FROM bus_payloads WHERE created_at < clock_timestamp() - interval '1 minute'`;
