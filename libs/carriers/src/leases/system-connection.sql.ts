import { IS_ALIVE } from './gateway.sql.js';

/**
 * Replaces a gateway's rows by its present connections: inserts new ones, deletes closed ones, updates the status of
 * the others. Connections of a deleted system get no row; an unregistered gateway writes none. $1 gateway; of each
 * connection: $2 id, $3 system, $4 address, $5 bind type, $6 status as JSON.
 */
export const REPLACE_SYSTEM_CONNECTIONS = `
  WITH gone AS (DELETE FROM system_connections WHERE gateway_id = $1 AND NOT id = ANY ($2::uuid[]))
  INSERT INTO system_connections (id, system_id, gateway_id, address, bind_type, since, status)
  SELECT own.id, own.system_id, $1, own.address, own.bind_type, date_trunc('milliseconds', clock_timestamp()), own.status
  FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::jsonb[])
    AS own (id, system_id, address, bind_type, status)
  WHERE EXISTS (SELECT FROM gateways WHERE id = $1) AND EXISTS (SELECT FROM smpp_systems WHERE id = own.system_id)
  ORDER BY own.id
  ON CONFLICT (id) DO UPDATE SET status = EXCLUDED.status`;

/** Number of connections of each system at other live gateways, and of those that receive. $1 this gateway. */
export const COUNT_SYSTEM_CONNECTIONS_ELSEWHERE = `
  SELECT c.system_id AS "systemId", count(*)::integer AS connections,
    count(*) FILTER (WHERE c.bind_type <> 'transmitter')::integer AS receivers
  FROM system_connections c JOIN gateways ON gateways.id = c.gateway_id
  WHERE c.gateway_id <> $1 AND ${IS_ALIVE} GROUP BY c.system_id`;

/** Number of connections of one system at other live gateways. $1 this gateway, $2 the system. */
export const COUNT_ONE_SYSTEM_ELSEWHERE = `
  SELECT count(*)::integer AS connections
  FROM system_connections c JOIN gateways ON gateways.id = c.gateway_id
  WHERE c.gateway_id <> $1 AND c.system_id = $2 AND ${IS_ALIVE}`;
