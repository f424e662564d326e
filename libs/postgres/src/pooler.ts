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

const localSettings = Object.entries({ ...SESSION_SETTINGS, ...SESSION_TIMEOUTS })
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ');

/**
 * Behind a pooler the next transaction may run on another connection of the server, or another client's transaction on this one. So
 * each transaction sets what a session has otherwise. `transaction_timeout` exists since PostgreSQL 17.
 */
export const BEGIN_OF_POOLER = `${BEGIN};
  SELECT ${localSettings};
  SELECT set_config('transaction_timeout', '0', true) WHERE current_setting('server_version_num')::int >= 170000`;
