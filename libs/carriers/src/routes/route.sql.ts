import { columnsOf } from '@countersign/postgres';
import { RouteEntity } from './route.entity.js';

const ROUTE = columnsOf(RouteEntity, { table: 'routes' });

/** Every route, oldest first, disabled ones included. */
export const LIST_ROUTES = `SELECT ${ROUTE} FROM routes ORDER BY id`;

/** Usable routes: enabled, and to an enabled bind or system whose bind types carry codes. */
export const OPEN_ROUTES = `
  routes LEFT JOIN binds ON binds.id = routes.bind_id LEFT JOIN smpp_systems ON smpp_systems.id = routes.system_id
  WHERE routes.enabled AND (binds.enabled AND binds.bind_type <> 'receiver'
    OR smpp_systems.enabled AND smpp_systems.bind_types && '{receiver,transceiver}')`;

/** A table of tens or hundreds of rows. */
export const LIST_OPEN_ROUTES = `SELECT ${ROUTE} FROM ${OPEN_ROUTES} ORDER BY routes.id`;
