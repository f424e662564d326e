/** One channel for all topics: the cost of LISTEN does not depend on the number of topics. */
export const BUS_CHANNEL = 'countersign_bus';

export const LISTEN = `LISTEN ${BUS_CHANNEL}`;

/**
 * Stores payloads and sends notifications in one statement, so that receivers find the payloads. A notification takes
 * a cluster-wide lock until its commit, which therefore follows at once. $1 ids, $2 payloads (bytea), $3 notification
 * texts.
 */
export const SEND = `
  WITH kept AS (
    INSERT INTO bus_payloads (id, payload)
    SELECT id, payload FROM unnest($1::uuid[], $2::bytea[]) AS given (id, payload)
  )
  SELECT pg_notify('${BUS_CHANNEL}', word) FROM unnest($3::text[]) WITH ORDINALITY AS given (word, place) ORDER BY place`;

/**
 * A payload is read only if it has the size that its notification announced; so the announced sizes bound the result. $1 ids,
 * $2 sizes in octets in the same order.
 */
export const READ_PAYLOADS = `
  SELECT id, payload FROM bus_payloads JOIN unnest($1::uuid[], $2::integer[]) AS announced (id, size) USING (id)
  WHERE octet_length(payload) = announced.size`;

/** Every receiver has read them long before; a later time than now is of no process. */
export const FORGET_PAYLOADS = `
  DELETE FROM bus_payloads WHERE created_at < clock_timestamp() - interval '1 minute'
    OR created_at > clock_timestamp() + interval '1 minute'`;
