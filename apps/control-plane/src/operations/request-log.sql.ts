/** Appends requests, one array per column: $1 ids, $2 accounts, $3 whether of test keys, $4 keys, $5 times, $6 methods, $7 paths, $8 statuses, $9 codes, $10 durations. */
export const APPEND_REQUESTS = `
  INSERT INTO account_requests (id, account_id, test, key_id, at, method, path, status, code, latency_ms)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[],
    $8::smallint[], $9::text[], $10::integer[])
  ON CONFLICT (id) DO NOTHING`;

/** A page, newest first. $1 account, $2 whether of test keys, $3 the lowest id, $4 the id that older ones follow or null, $5 rows. */
export const LIST_REQUESTS = `
  SELECT id, key_id AS "keyId", at, method, path, status, code, latency_ms AS "latencyMs" FROM account_requests
  WHERE account_id = $1 AND test = $2 AND id >= $3 AND ($4::uuid IS NULL OR id < $4)
  ORDER BY id DESC LIMIT $5`;

/** Deletes up to $2 requests whose id is lower than $1, the oldest first. */
export const PURGE_REQUESTS = `
  DELETE FROM account_requests WHERE id = ANY (ARRAY(
    SELECT id FROM account_requests WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING id`;
