import { HELD_FOR_SECONDS, LEASE_SECONDS } from '../leases/bind-lease.js';
import { IS_ALIVE } from '../leases/gateway.sql.js';

/** Until when the owner acts on a connection. Its status is not shown as current beyond that time. */
const HELD_UNTIL = `expires_at - interval '${LEASE_SECONDS - HELD_FOR_SECONDS} seconds'`;

/** The connections of a bind, by slot. */
export const SLOTS_OF = (bind: string): string => `
  SELECT coalesce(json_agg(json_build_object('slot', slot, 'owner', owner,
    'held', owner IS NOT NULL AND ${HELD_UNTIL} > clock_timestamp(), 'heldUntil', ${HELD_UNTIL}, 'status', status)
    ORDER BY slot), '[]')
  FROM bind_connections WHERE bind_id = ${bind}.id`;

/** The connections of a system to live gateways, oldest first. */
export const LINKS_OF = (system: string): string => `
  SELECT coalesce(json_agg(json_build_object('gatewayId', links.gateway_id, 'address', links.address,
    'bindType', links.bind_type, 'since', links.since, 'status', links.status) ORDER BY links.id), '[]')
  FROM system_connections AS links JOIN gateways ON gateways.id = links.gateway_id AND ${IS_ALIVE}
  WHERE links.system_id = ${system}.id`;

export const LIVE_GATEWAYS = `(SELECT * FROM gateways WHERE ${IS_ALIVE}) AS live`;

/** A gateway with its leases of bind connections and its number of system connections. */
export const GATEWAY_RECORD = `id, host, version, started_at AS "startedAt", seen_at AS "seenAt", stopping, (
  SELECT coalesce(json_agg(json_build_object('bindId', bind_id, 'slot', slot, 'epoch', epoch, 'expiresAt', expires_at,
    'state', CASE WHEN ${HELD_UNTIL} > clock_timestamp() THEN status ->> 'state' ELSE 'unbound' END) ORDER BY bind_id, slot), '[]')
  FROM bind_connections WHERE owner = live.id AND expires_at > clock_timestamp()) AS leases,
  (SELECT count(*)::int FROM system_connections WHERE gateway_id = live.id) AS "systemConnections"`;
