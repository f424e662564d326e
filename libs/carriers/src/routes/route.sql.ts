import { columnsOf } from '@countersign/postgres';
import { RouteEntity } from './route.entity.js';

const ROUTE = columnsOf(RouteEntity, { table: 'routes' });

/** Every route, oldest first, disabled ones included. */
export const LIST_ROUTES = `SELECT ${ROUTE} FROM routes ORDER BY id`;

const WITH_TARGETS = `
  routes LEFT JOIN binds ON binds.id = routes.bind_id LEFT JOIN smpp_systems ON smpp_systems.id = routes.system_id`;
const CARRIES_CODES = `coalesce(binds.bind_type <> 'receiver', smpp_systems.bind_types && '{receiver,transceiver}')`;
const TARGET_TRUSTED = `coalesce(binds.trusted_for_mo, smpp_systems.trusted_for_mo)`;
const TARGET_ENABLED = `coalesce(binds.enabled, smpp_systems.enabled)`;
const IS_OPEN = `routes.enabled AND ${TARGET_ENABLED} AND ${CARRIES_CODES}`;

/** Usable routes: enabled, and to an enabled bind or system whose bind types carry codes. */
export const OPEN_ROUTES = `
  ${WITH_TARGETS}
  WHERE ${IS_OPEN}`;

/** A table of tens or hundreds of rows. */
export const LIST_OPEN_ROUTES = `SELECT ${ROUTE}, ${TARGET_TRUSTED} AS "targetTrusted" FROM ${OPEN_ROUTES} ORDER BY routes.id`;

/** Routes whose prefix a number has, usable or not, the most specific ones first. $1 number in E.164, $2 maximum rows. */
export const LIST_CANDIDATES = `
  SELECT ${ROUTE}, ${TARGET_ENABLED} AS "targetEnabled", ${CARRIES_CODES} AS "carriesCodes", ${IS_OPEN} AS usable
  FROM ${WITH_TARGETS}
  WHERE starts_with($1, routes.prefix)
  ORDER BY length(routes.prefix) DESC, routes.priority, routes.weight DESC, routes.id LIMIT $2`;
