import type pg from 'pg';

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
