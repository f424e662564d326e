import { HELD_FOR_SECONDS, LEASE_SECONDS } from '../leases/bind-lease.js';
import { BIND, SYSTEM } from '../config/carrier.sql.js';
import { IS_ALIVE } from '../leases/gateway.sql.js';

/** Until when the owner acts on a connection. Its status is not shown as current beyond that time. */
const HELD_UNTIL = `expires_at - interval '${LEASE_SECONDS - HELD_FOR_SECONDS} seconds'`;

/** A bind with the rows of its connections, by slot. */
export const BIND_RECORD = `${BIND}, (
  SELECT coalesce(json_agg(json_build_object('slot', slot, 'owner', owner,
    'held', owner IS NOT NULL AND ${HELD_UNTIL} > clock_timestamp(), 'heldUntil', ${HELD_UNTIL}, 'status', status)
    ORDER BY slot), '[]')
  FROM bind_connections WHERE bind_id = binds.id) AS slots`;

/** A system with its connections to live gateways, oldest first. */
export const SYSTEM_RECORD = `${SYSTEM}, (
  SELECT coalesce(json_agg(json_build_object('gatewayId', links.gateway_id, 'address', links.address,
    'bindType', links.bind_type, 'since', links.since, 'status', links.status) ORDER BY links.id), '[]')
  FROM system_connections AS links JOIN gateways ON gateways.id = links.gateway_id AND ${IS_ALIVE}
  WHERE links.system_id = smpp_systems.id) AS links`;

export const LIVE_GATEWAYS = `(SELECT * FROM gateways WHERE ${IS_ALIVE}) AS live`;

/** A gateway with its leases of bind connections and its number of system connections. */
export const GATEWAY_RECORD = `id, host, version, started_at AS "startedAt", seen_at AS "seenAt", stopping, (
  SELECT coalesce(json_agg(json_build_object('bindId', bind_id, 'slot', slot, 'epoch', epoch, 'expiresAt', expires_at,
    'state', CASE WHEN ${HELD_UNTIL} > clock_timestamp() THEN status ->> 'state' ELSE 'unbound' END) ORDER BY bind_id, slot), '[]')
  FROM bind_connections WHERE owner = live.id AND expires_at > clock_timestamp()) AS leases,
  (SELECT count(*)::int FROM system_connections WHERE gateway_id = live.id) AS "systemConnections"`;
