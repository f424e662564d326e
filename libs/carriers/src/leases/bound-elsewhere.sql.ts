import { isUnexpired } from '../config/lease.sql.js';

/** Binds over which another gateway can send: its lease is valid, and it is not stopping. $1 this gateway. */
export const LIST_BOUND_ELSEWHERE = `
  SELECT DISTINCT c.bind_id AS "bindId" FROM bind_connections c JOIN gateways g ON g.id = c.owner
  WHERE c.owner <> $1 AND NOT g.stopping AND ${isUnexpired('c')} AND c.status->>'state' = 'bound'`;
