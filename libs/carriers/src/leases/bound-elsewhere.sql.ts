import { isUnexpired } from '../config/lease.sql.js';
import { IS_ALIVE } from './gateway.sql.js';

/**
 * Binds and systems over which another gateway can send: the lease of its connection is valid, or the system is connected
 * to it, and it is not stopping. $1 this gateway.
 */
export const LIST_BOUND_ELSEWHERE = `
  SELECT c.bind_id AS "linkId" FROM bind_connections c JOIN gateways ON gateways.id = c.owner
  WHERE c.owner <> $1 AND NOT gateways.stopping AND ${isUnexpired('c')} AND c.status->>'state' = 'bound'
  UNION
  SELECT c.system_id FROM system_connections c JOIN gateways ON gateways.id = c.gateway_id
  WHERE c.gateway_id <> $1 AND NOT gateways.stopping AND ${IS_ALIVE} AND c.bind_type <> 'transmitter'
    AND c.status->>'state' = 'bound'`;
