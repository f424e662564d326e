import pg from 'pg';
import {
  CONNECT_TIMEOUT_MS,
  connectionSettings,
  QUERY_TIMEOUT_MS,
  SESSION_SETTINGS,
  SESSION_TIMEOUTS,
} from './connection-settings.js';
import { classifyError } from './database-errors.js';

/** PgBouncer's answer to settings in the startup packet that it does not pass on. */
const REFUSES_SETTINGS = /unsupported startup parameter/;

/**
 * Whether the URL leads to a connection pooler such as PgBouncer. A pooler answers with a process id of its own, so that it
 * receives the requests to cancel statements; the id of a server is that of its process. Settings in the startup packet,
 * which `Database` sends to a server, are refused or ignored by poolers.
 */
export async function usesPooler(url: string): Promise<boolean> {
  const client = new pg.Client({
    ...connectionSettings(url),
    ...SESSION_TIMEOUTS,
    application_name: 'countersign-pooler-check',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return rows[0]?.pid !== processIdOf(client);
  } catch (error) {
    if (error instanceof Error && REFUSES_SETTINGS.test(error.message)) return true;
    throw classifyError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The id with which the connection would cancel its statements. `pg` keeps it; its types do not say so. */
const processIdOf = (client: pg.Client): unknown => ('processID' in client ? client.processID : null);

export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

/**
 * The path that ALTER DATABASE, else ALTER ROLE ALL, gives to sessions, or PostgreSQL's default; not that of a role or of the
 * connection, which other clients may have changed. Names are qualified: the path in force may put temporary tables first.
 */
const SEARCH_PATH = `coalesce((
    SELECT substr(setting, strpos(setting, '=') + 1)
    FROM pg_catalog.pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
    WHERE setrole = 0 AND split_part(setting, '=', 1) = 'search_path'
      AND setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))
    ORDER BY setdatabase DESC LIMIT 1), '"$user", public')`;

/**
 * In place of settings that another client with the same role may have left on a connection of the server. Temporary tables are searched last; a
 * path that does not name them has them first. A commit is not answered before it is on disk.
 */
const OTHERS_SETTINGS = `set_config('role', 'none', true),
    set_config('search_path', ${SEARCH_PATH} || ', pg_temp', true),
    set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN 'on'
      ELSE current_setting('synchronous_commit') END, true)`;

const localSettings = Object.entries({ ...SESSION_SETTINGS, ...SESSION_TIMEOUTS })
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ');

/**
 * Behind a pooler the next transaction may run on another connection of the server, or another client's transaction on this one. So
 * each transaction sets what a session has otherwise, and may write whatever the default of the connection is. `transaction_timeout`
 * exists since PostgreSQL 17.
 */
export const BEGIN_OF_POOLER = `${BEGIN} READ WRITE;
  SELECT ${localSettings}, ${OTHERS_SETTINGS};
  SELECT set_config('transaction_timeout', '0', true) WHERE current_setting('server_version_num')::int >= 170000`;
