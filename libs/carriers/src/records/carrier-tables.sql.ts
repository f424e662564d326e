import { isUnexpired } from '../config/lease.sql.js';
import { HELD_FOR_SECONDS, LEASE_SECONDS } from '../leases/bind-lease.js';
import { IS_ALIVE } from '../leases/gateway.sql.js';

/** Beyond what a gateway holds, and what a system may open. */
const MOST_LEASES = 2_000;
const MOST_LINKS = 1_000;

/** Until when the owner acts on a connection. Its status is not shown as current beyond that time. */
const HELD_UNTIL = `expires_at - interval '${LEASE_SECONDS - HELD_FOR_SECONDS} seconds'`;

/** The connections of a bind, by slot. */
export const SLOTS_OF = (bind: string): string => `
  SELECT coalesce(json_agg(json_build_object('slot', slot, 'owner', owner,
    'held', owner IS NOT NULL AND ${isUnexpired('slots')} AND ${HELD_UNTIL} > clock_timestamp(),
    'heldUntil', CASE WHEN ${HELD_UNTIL} <= clock_timestamp() OR ${isUnexpired('slots')} THEN ${HELD_UNTIL} END,
    'status', status) ORDER BY slot), '[]')
  FROM bind_connections AS slots WHERE bind_id = ${bind}.id AND slot BETWEEN 0 AND 31`;

/** The connections of a system to live gateways, oldest first. */
export const LINKS_OF = (system: string): string => `
  SELECT coalesce(json_agg(json_build_object('gatewayId', links.gateway_id, 'address', links.address,
    'bindType', links.bind_type, 'since', links.since, 'status', links.status) ORDER BY links.id), '[]')
  FROM (
    SELECT system_connections.* FROM system_connections JOIN gateways ON gateways.id = gateway_id AND ${IS_ALIVE}
    WHERE system_connections.system_id = ${system}.id ORDER BY system_connections.id LIMIT ${MOST_LINKS}) AS links`;

/** The refused binds of a system; null without any. */
export const REFUSALS_OF = (system: string): string => `
  SELECT json_build_object('refusals', refusals, 'at', last_at, 'reason', last_reason, 'address', last_address)
  FROM system_refusals WHERE system_refusals.system_id = ${system}.id`;

export const LIVE_GATEWAYS = `(SELECT * FROM gateways WHERE ${IS_ALIVE}) AS live`;

/** A gateway with its leases of bind connections and its number of system connections. */
export const GATEWAY_RECORD = `id, host, version, started_at AS "startedAt", seen_at AS "seenAt", stopping, (
  SELECT coalesce(json_agg(json_build_object('bindId', bind_id, 'slot', slot, 'epoch', epoch, 'expiresAt', expires_at,
    'state', CASE WHEN ${HELD_UNTIL} > clock_timestamp() THEN status ->> 'state' ELSE 'unbound' END) ORDER BY bind_id, slot), '[]')
  FROM (
    SELECT * FROM bind_connections AS held WHERE owner = live.id AND ${isUnexpired('held')}
    ORDER BY bind_id, slot LIMIT ${MOST_LEASES}) AS held) AS leases,
  (SELECT count(*)::int FROM system_connections WHERE gateway_id = live.id) AS "systemConnections"`;
