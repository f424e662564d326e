import { prepared } from '@countersign/postgres';
import { onDays } from '@countersign/postgres/partitions';
import { MAX_DISPATCH_MS } from './dispatch-snapshot.js';

/**
 * Writes events ($1 to $7 and $9, one array per column) and fixes the webhook URL of each: the session's own, else
 * the account's default unless disabled, or its test URL for test events; none when the type is neither among $8,
 * which are always sent, nor among the account's opt-in types. Idempotent by id.
 */
export const APPEND_EVENTS = prepared(`
  INSERT INTO events (id, type, account_id, session_id, occurred_at, data, test, webhook_url)
  SELECT new.id, new.type, new.account_id, new.session_id, new.occurred_at, new.data::json, new.test,
    CASE WHEN new.type = ANY ($8::text[]) OR new.type = ANY (account.webhook_events)
      THEN coalesce(new.session_webhook_url,
        CASE WHEN new.test THEN account.test_webhook_url
          WHEN account.default_webhook_disabled_at IS NULL THEN account.default_webhook_url END) END
  FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $9::boolean[])
    AS new (id, type, account_id, session_id, occurred_at, data, session_webhook_url, test)
  LEFT JOIN accounts account ON account.id = new.account_id
  ON CONFLICT (id) DO NOTHING`);

/**
 * Up to $1 undispatched events from the id $2 on, oldest first, locked; skips those that another process is dispatching. The index
 * keeps entries of dispatched events while a transaction with an older snapshot is open, so a low $2 reads past all of them: with
 * 200,000 that took 88 to 310 ms, with a bound 1 to 3.
 */
export const LOCK_UNDISPATCHED = `
  SELECT id FROM events WHERE dispatched_at IS NULL AND id >= $2 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`;

/** Of the events $1, all between $2 and $3, those that nobody has dispatched or is dispatching, locked. */
export const LOCK_NAMED = onDays(
  'events',
  [2, 3],
  (events) => `
  SELECT id FROM ${events}
  WHERE id = ANY ($1::uuid[]) AND id >= $2 AND id <= $3 AND coalesce(dispatched_at IS NULL, false)
  ORDER BY id FOR UPDATE SKIP LOCKED`,
);

/** Octets of stored data that are read at most; longer data reads as null. URLs are the longest part of what is written. */
const MAX_DATA_OCTETS = 65_536;
/** The stored size is known without reading the value; compressed data of that size has a few megabytes at most. */
const BOUNDED_DATA = `CASE WHEN pg_column_size(data) <= ${MAX_DATA_OCTETS} THEN
  CASE WHEN octet_length(data::text) <= ${MAX_DATA_OCTETS} THEN data::text END END`;
/** Characters of a type and of a URL that are read at most: a longer one is no type and no URL of an account. */
const MAX_TYPE_LENGTH = 64;
const MAX_URL_LENGTH = 32_768;
const EVENT_COLUMNS = `id, left(type, ${MAX_TYPE_LENGTH}) AS type, account_id AS "accountId", test, session_id AS "sessionId",
    occurred_at AS "occurredAt"`;

/**
 * Marks the locked events $1, all between $2 and $3 (so that only their partitions are read), and returns them. `data` is
 * as in READ_EVENTS. Gateways write events, so the size of everything that is read is bounded.
 * All have the same time, so that the order (dispatched_at, id) is that of their broadcast.
 */
export const MARK_DISPATCHED = onDays(
  'events',
  [2, 3],
  (events) => `
  UPDATE ${events} SET dispatched_at = (SELECT date_trunc('milliseconds', clock_timestamp())),
    dispatch_xid = pg_current_xact_id(), dispatch_xmin = pg_snapshot_xmin(pg_current_snapshot())
  WHERE id = ANY ($1::uuid[]) AND id >= $2 AND id <= $3
  RETURNING ${EVENT_COLUMNS}, CASE WHEN type = ANY ($4::text[]) THEN ${BOUNDED_DATA} END AS data,
    left(webhook_url, ${MAX_URL_LENGTH}) AS "webhookUrl"`,
);

/** Events by id. `data` is JSON text, null for types other than $4 and where it is too long. $1 ids, $2 and $3 their bounds. */
export const READ_EVENTS = onDays(
  'events',
  [2, 3],
  (events) => `
  SELECT ${EVENT_COLUMNS}, CASE WHEN type = ANY ($4::text[]) THEN ${BOUNDED_DATA} END AS data
  FROM ${events} WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3`,
);

/** The data of events of the types $4 as JSON text. $1 ids, $2 and $3 their bounds. */
export const READ_EVENT_DATA = onDays(
  'events',
  [2, 3],
  (events) => `
  SELECT id, data::text AS data FROM ${events}
  WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 AND type = ANY ($4::text[]) AND data IS NOT NULL`,
);

/**
 * When the event $1 of the account $2 and the mode $3 was dispatched; no row unless that was within the last $4
 * milliseconds.
 */
export const FIND_DISPATCH = `
  SELECT dispatched_at AS "dispatchedAt", dispatch_xid::text AS xid, dispatch_xmin::text AS xmin
  FROM events
  WHERE id = $1 AND account_id = $2 AND test = $3
    AND dispatched_at > clock_timestamp() - $4::float8 * interval '1 millisecond'`;

const MAX_DISPATCH = `interval '${MAX_DISPATCH_MS} milliseconds'`;

/**
 * The first $5 events of the account $1 and the mode $2 after the event $4, which was dispatched at $3, in order of dispatch.
 * The index events_dispatched has this order in each partition. A dispatch may commit after one with a later time: events of
 * transactions that were open at the dispatch of $4 are therefore among them, being those from $6 on but $7, its own.
 */
export const READ_DISPATCHED_AFTER = `
  SELECT ${EVENT_COLUMNS}
  FROM events
  WHERE account_id = $1 AND test = $2 AND dispatched_at IS NOT NULL
    AND dispatched_at > $3::timestamptz - ${MAX_DISPATCH}
    AND ((dispatched_at, id) > ($3, $4::uuid) OR (dispatch_xid >= $6::text::xid8 AND dispatch_xid <> $7::text::xid8))
  ORDER BY dispatched_at, id LIMIT $5`;

/** The transactions that are over, and a time before: that of the statement's begin. */
export const READ_SNAPSHOT = `
  SELECT pg_current_snapshot()::text AS text, floor(extract(epoch FROM statement_timestamp()) * 1000)::float8 AS "takenAtMs"`;

/**
 * Events of some accounts and modes that are visible in the snapshot $6 and not in the one up to which each was read, in order of
 * dispatch, up to $7 of each, with ids from $8 to $9, so that few partitions are read. $1 accounts, $2 modes, $3 their snapshots,
 * $4 times and $5 events of the positions after which they are read. Rows without a transaction are of an older release: they are
 * returned more than once.
 */
export const READ_UNSEEN = `
  SELECT event.* FROM unnest($1::uuid[], $2::boolean[], $3::text[]::pg_snapshot[], $4::timestamptz[], $5::uuid[])
      AS wanted (account, mode, seen, at, after),
    LATERAL (
      SELECT ${EVENT_COLUMNS}, dispatched_at AS "dispatchedAt"
      FROM events
      WHERE account_id = wanted.account AND test = wanted.mode AND dispatched_at IS NOT NULL
        AND (dispatched_at, id) > (wanted.at, wanted.after) AND id BETWEEN $8 AND $9
        AND pg_visible_in_snapshot(dispatch_xid, wanted.seen) IS NOT TRUE
        AND pg_visible_in_snapshot(dispatch_xid, $6::text::pg_snapshot) IS NOT FALSE
      ORDER BY dispatched_at, id LIMIT $7) AS event`;

/** Age of the oldest undispatched event in seconds; no row when there is none. */
export const OLDEST_UNDISPATCHED = `
  SELECT extract(epoch FROM clock_timestamp() - occurred_at)::float8 AS seconds
  FROM events WHERE dispatched_at IS NULL ORDER BY id LIMIT 1`;

/**
 * Events of sessions. $1 sessions, $2 types of events, $3 and $4 bounds of the event ids, which contain the time of the
 * write: events have no index on the session, so the bounds limit the rows of a search.
 */
export const FIND_OF_SESSIONS = `
  SELECT id, type, session_id AS "sessionId", account_id AS "accountId", test, occurred_at AS "occurredAt"
  FROM events
  WHERE id BETWEEN $3 AND $4 AND session_id = ANY ($1::uuid[]) AND type = ANY ($2::text[])`;
