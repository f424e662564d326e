import { MAX_COUNTED } from '@countersign/events';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;

const counted = (state: string): string =>
  `(SELECT count(*)::int FROM (SELECT 1 FROM outbound_messages WHERE state = '${state}' AND NOT test
    LIMIT ${MAX_COUNTED}) AS found)`;

/**
 * The depth of the queue without codes of test keys, which no gateway sends. The age counts from the request: a code
 * that no bind can send is postponed repeatedly, and is late all the same.
 */
export const OUTBOUND_DEPTH = `
  SELECT ${counted('queued')} AS waiting, ${counted('sending')} AS "inFlight", ${counted('failed')} AS failed,
    (SELECT round(extract(epoch FROM clock_timestamp() - min(created_at)), 3)::float8
      FROM (SELECT created_at FROM outbound_messages WHERE state = 'queued' AND NOT test LIMIT ${MAX_COUNTED}) AS found)
      AS "oldestAgeSeconds"`;

/** Codes that were tried and are still valid, locked. $1 maximum rows. */
export const LOCK_TRIED = `
  SELECT id FROM outbound_messages
  WHERE state = 'queued' AND NOT test AND expires_at > statement_timestamp() AND attempts > 0
  ORDER BY next_attempt_at LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Makes locked codes due at once on every route. $1 ids, $2 and $3 their bounds. */
export const RETRY_NOW = `
  UPDATE outbound_messages SET next_attempt_at = ${NOW}, refused_routes = '{}', busy_routes = '{}'
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND state = 'queued'`;
