export const ROUTE = `routes.id, routes.prefix, routes.bind_id AS "bindId", routes.priority, routes.weight,
  routes.cost_usd::text AS "costUsd", routes.source_address AS "sourceAddress", routes.enabled`;

/** Every route, oldest first, disabled ones included. */
export const LIST_ROUTES = `SELECT ${ROUTE} FROM routes ORDER BY id`;

/** Usable routes: enabled, over an enabled bind that may send. A table of tens or hundreds of rows. */
export const LIST_OPEN_ROUTES = `
  SELECT ${ROUTE} FROM routes JOIN binds ON binds.id = routes.bind_id
  WHERE routes.enabled AND binds.enabled AND binds.bind_type <> 'receiver' ORDER BY routes.id`;

/** $1 id, $2 prefix, $3 bind, $4 priority, $5 weight, $6 cost in US dollars, $7 source address or null, $8 enabled. */
export const INSERT_ROUTE = `
  INSERT INTO routes (id, prefix, bind_id, priority, weight, cost_usd, source_address, enabled)
  VALUES ($1, $2, $3, $4, $5, $6::numeric, $7, $8) RETURNING ${ROUTE}`;

/** Parameters as for the insert. */
export const UPDATE_ROUTE = `
  UPDATE routes SET prefix = $2, bind_id = $3, priority = $4, weight = $5, cost_usd = $6::numeric,
    source_address = $7, enabled = $8
  WHERE id = $1 RETURNING ${ROUTE}`;

/** $1 id. */
export const DELETE_ROUTE = `DELETE FROM routes WHERE id = $1`;
