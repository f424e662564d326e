import { OPEN_ROUTES } from '../routes/route.sql.js';

/** The destination of a message. $1 id, $2 session, $3 account, $4 whether of a test key. */
export const FIND_QUEUED = `
  SELECT destination FROM outbound_messages WHERE id = $1 AND session_id = $2 AND account_id = $3 AND test = $4`;

/** One row if a route exists for the number; the table has tens or hundreds of rows. $1 number in E.164. */
export const HAS_OPEN_ROUTE = `
  SELECT 1 FROM ${OPEN_ROUTES} AND starts_with($1, routes.prefix) LIMIT 1`;
