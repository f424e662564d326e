import { columnsOf } from '@countersign/postgres';
import { RouteEntity } from './route.entity.js';

const ROUTE = columnsOf(RouteEntity, { table: 'routes' });

/** Every route, oldest first, disabled ones included. */
export const LIST_ROUTES = `SELECT ${ROUTE} FROM routes ORDER BY id`;

/** Usable routes: enabled, over an enabled bind that may send. A table of tens or hundreds of rows. */
export const LIST_OPEN_ROUTES = `
  SELECT ${ROUTE} FROM routes JOIN binds ON binds.id = routes.bind_id
  WHERE routes.enabled AND binds.enabled AND binds.bind_type <> 'receiver' ORDER BY routes.id`;
