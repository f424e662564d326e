import type pg from 'pg';
import { SESSION_SETTINGS, SESSION_TIMEOUTS } from './connection-settings.js';

/** Ends every transaction after that time, since PostgreSQL 17; a statement of its own, because it could end the next one. */
const ALLOW_LONG_TRANSACTIONS = `
  SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('server_version_num')::int >= 170000`;

/**
 * Resets what ALTER ROLE … SET gave to this session to the value of the database, else of the server. Settings that the
 * options of the connection name have another source and stay. Without a setting of the role, `pg_settings` is not read.
 */
const RESET_ROLE_SETTINGS = `
  WITH given AS (
    SELECT setrole, setdatabase, split_part(setting, '=', 1) AS name, substr(setting, strpos(setting, '=') + 1) AS value
    FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
    WHERE setrole IN (0, quote_ident(session_user)::regrole)
      AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())))
  SELECT set_config(name, coalesce(
    (SELECT value FROM given WHERE given.name = pg_settings.name AND setrole = 0 ORDER BY setdatabase DESC LIMIT 1),
    boot_val), false)
  FROM pg_settings
  WHERE (SELECT EXISTS (SELECT FROM given WHERE setrole <> 0)) AND source IN ('user', 'database user') AND context = 'user'`;

/**
 * A role may always change the settings of its own later sessions, and a new password does not undo that. So no daemon uses
 * settings of a role; those of ALTER DATABASE and of the server's configuration, which the role cannot change, hold.
 */
export async function resetRoleSettings(client: pg.ClientBase): Promise<void> {
  await Promise.all([client.query(ALLOW_LONG_TRANSACTIONS), client.query(RESET_ROLE_SETTINGS)]);
}

/** Except those that each transaction sets, and those of a superuser. $1: names that each transaction sets. */
const ROLE_SETTINGS = `
  SELECT session_user::text AS role, string_agg(DISTINCT name, ', ') AS names
  FROM (
    SELECT split_part(setting, '=', 1) AS name
    FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
    WHERE setrole = quote_ident(session_user)::regrole
      AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))) AS given
  WHERE lower(name) <> ALL ($1)
    AND EXISTS (SELECT FROM pg_settings WHERE lower(pg_settings.name) = lower(given.name) AND context = 'user')
  HAVING count(*) > 0`;

/** Behind a pooler, which shares its connections to the server, they cannot be reset for one client. */
export async function refuseRoleSettings(client: pg.ClientBase): Promise<void> {
  const names = [...Object.keys(SESSION_SETTINGS), ...Object.keys(SESSION_TIMEOUTS), 'transaction_timeout'];
  const { rows } = await client.query<{ role: string; names: string }>(ROLE_SETTINGS, [names]);
  const [found] = rows;
  if (found === undefined) return;
  throw new Error(
    `the role ${found.role} has settings of its own (${found.names}), which would hold behind a connection pooler: ` +
      'set them with ALTER DATABASE … SET, and remove those of the role with ALTER ROLE … RESET ALL',
  );
}
