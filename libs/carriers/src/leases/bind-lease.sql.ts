import { isLeased, isUnexpired, LEASE_SECONDS } from '../config/lease.sql.js';
import { IS_ALIVE } from './gateway.sql.js';

/** Expiry of a lease that is claimed or renewed now. */
const RUNS_OUT = `date_trunc('milliseconds', clock_timestamp()) + interval '${LEASE_SECONDS} seconds'`;

/** As in 0022-gateway-bounds.ts. After it an epoch begins again at 1: a larger one would fail its claim and the others of the same statement. */
const LAST_EPOCH = '9007199254740991';

/** Inserts missing rows of wanted connections. Rows are never deleted here: their epochs must not restart. */
export const ENSURE_SLOTS = `
  INSERT INTO bind_connections (bind_id, slot)
  SELECT b.id, wanted.slot FROM binds b CROSS JOIN LATERAL generate_series(0, b.connections - 1) AS wanted (slot)
  WHERE b.enabled
    AND NOT EXISTS (SELECT FROM bind_connections c WHERE c.bind_id = b.id AND c.slot = wanted.slot)
  ORDER BY b.id, wanted.slot
  ON CONFLICT (bind_id, slot) DO NOTHING`;

/**
 * Every wanted connection that gateways open, with its holder and remaining lease time. Those of a bind with `outbind` are
 * claimed when the carrier connects.
 */
export const SURVEY_SLOTS = `
  SELECT c.bind_id AS "bindId", c.slot, CASE WHEN held.left_ms > 0 THEN c.owner END AS owner,
    CASE WHEN held.left_ms > 0 THEN held.left_ms END AS "leftMs"
  FROM bind_connections c JOIN binds b ON b.id = c.bind_id
    CROSS JOIN LATERAL (
      SELECT CASE WHEN ${isLeased('c')}
        THEN (extract(epoch FROM c.expires_at - clock_timestamp()) * 1000)::float8 END AS left_ms) AS held
  WHERE b.enabled AND b.outbind IS NULL AND c.slot >= 0 AND c.slot < b.connections
  ORDER BY c.bind_id, c.slot`;

/** Gateways that claim connections. */
export const LIST_CLAIMING_GATEWAYS = `
  SELECT id FROM gateways
  WHERE NOT stopping AND ${IS_ALIVE} ORDER BY id`;

/** Gives the connections in `free` to a new holder. $1 owner. */
const TAKE_FREE = `
  UPDATE bind_connections AS taken
  SET owner = $1, epoch = greatest(taken.epoch, 0) % ${LAST_EPOCH} + 1, expires_at = ${RUNS_OUT}, status = NULL
  FROM free WHERE taken.bind_id = free.bind_id AND taken.slot = free.slot
  RETURNING taken.bind_id AS "bindId", taken.slot, taken.owner, taken.epoch::text, taken.events`;

/**
 * Claims connections without a holder, with an expired lease, or already held by the owner; skips those that another
 * gateway is claiming. $1 owner; $2 binds and $3 slots in the same order.
 */
export const CLAIM_SLOTS = `
  WITH free AS (
    SELECT c.bind_id, c.slot FROM bind_connections c
      JOIN unnest($2::uuid[], $3::smallint[]) AS asked (bind_id, slot) ON c.bind_id = asked.bind_id AND c.slot = asked.slot
    WHERE c.owner = $1 OR NOT ${isLeased('c')}
    ORDER BY c.bind_id, c.slot FOR UPDATE OF c SKIP LOCKED)
  ${TAKE_FREE}`;

/**
 * Claims one connection without a holder of a bind whose outbind is as it was read. A locked one is waited for: a renewal that
 * has just missed the release of a connection locks it for a moment, and the carrier would be refused. $1 owner, $2 bind,
 * $3 `outbind` as JSON, $4 its sealed password.
 */
export const CLAIM_OUTBIND_SLOT = `
  WITH free AS (
    SELECT c.bind_id, c.slot FROM bind_connections c JOIN binds b ON b.id = c.bind_id
    WHERE c.bind_id = $2 AND b.enabled AND b.outbind = $3::jsonb AND b.outbind_password_sealed = $4
      AND c.slot >= 0 AND c.slot < b.connections AND NOT ${isLeased('c')}
    ORDER BY c.slot LIMIT 1 FOR UPDATE OF c)
  ${TAKE_FREE}`;

/** The connections of a gateway, locked in a fixed order: concurrent renewals of one gateway must not deadlock. */
const OWN_SLOTS = `
  SELECT c.bind_id, c.slot, own.status, coalesce(own.events, c.events) AS events FROM bind_connections c
    JOIN unnest($2::uuid[], $3::smallint[], $4::bigint[], $5::jsonb[], $6::jsonb[]) AS own (bind_id, slot, epoch, status, events)
      ON c.bind_id = own.bind_id AND c.slot = own.slot AND c.epoch = own.epoch
  WHERE c.owner = $1 ORDER BY c.bind_id, c.slot FOR UPDATE OF c`;

/**
 * Renews leases and stores the statuses and events of their connections; returns the leases that the owner still held. $1 owner; $2 binds,
 * $3 slots, $4 epochs, $5 statuses as JSON and $6 events as JSON, null for unchanged ones, in the same order.
 */
export const RENEW_SLOTS = `
  WITH own AS (${OWN_SLOTS})
  UPDATE bind_connections AS renewed SET expires_at = ${RUNS_OUT}, status = own.status, events = own.events
  FROM own WHERE renewed.bind_id = own.bind_id AND renewed.slot = own.slot
  RETURNING renewed.bind_id AS "bindId", renewed.slot`;

/** Releases leases and stores the last statuses and events. Parameters as above. */
export const RELEASE_SLOTS = `
  WITH own AS (${OWN_SLOTS})
  UPDATE bind_connections AS released SET owner = NULL, expires_at = NULL, status = own.status, events = own.events
  FROM own WHERE released.bind_id = own.bind_id AND released.slot = own.slot`;

/**
 * The leases that are still held by their owner. $1 binds, $2 slots, $3 owners, $4 epochs in the same order, $5
 * whether an expired lease that nobody has claimed counts.
 */
export const CHECK_LEASES = `
  SELECT c.bind_id AS "bindId", c.slot, c.owner, c.epoch::text FROM bind_connections c
    JOIN unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::bigint[]) AS named (bind_id, slot, owner, epoch)
      ON c.bind_id = named.bind_id AND c.slot = named.slot AND c.owner = named.owner AND c.epoch = named.epoch
  WHERE $5 OR ${isUnexpired('c')}`;

/** The events of the connections of a bind. $1 bind. */
export const FIND_EVENTS = `
  SELECT slot, events FROM bind_connections
  WHERE bind_id = $1 AND slot BETWEEN 0 AND 31 AND events IS NOT NULL ORDER BY slot`;
