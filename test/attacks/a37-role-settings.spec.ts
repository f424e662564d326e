import { Database } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureRoles } from '../../config/stack/postgres-roles.mjs';
import { freshDatabase, superuserDatabase, type TestDatabase } from '../support/database.js';

// A role may give settings to its own later sessions, and a new password does not undo that.

const SETTINGS = {
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'iso_8601',
  array_nulls: 'off',
  bytea_output: 'escape',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  enable_indexscan: 'off',
  idle_session_timeout: '1ms',
  lock_timeout: '1ms',
  search_path: 'pg_catalog',
  standard_conforming_strings: 'off',
  statement_timeout: '1ms',
  synchronous_commit: 'off',
  TimeZone: 'Asia/Tokyo',
  work_mem: '64kB',
};
const NAMES = Object.keys(SETTINGS);

const open = (url: string): Promise<Database> =>
  Database.open({ url, poolMax: 2, applicationName: 'role-settings', onError: () => undefined });

const shown = (database: Database): Promise<{ name: string; setting: string }[]> =>
  database.query('SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name', [NAMES]);

/** As the gateways' role, for its later sessions in this database; the role itself is that of other tests, too. */
async function leave({ gatewayUrl }: TestDatabase, settings: Readonly<Record<string, string>>): Promise<void> {
  const stolen = await open(gatewayUrl);
  const { pathname, username } = new URL(gatewayUrl);
  for (const [name, value] of Object.entries(settings)) {
    await stolen.query(`ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)} SET ${name} = '${value}'`);
  }
  await stolen.close();
}

const leftIn = (database: Database): Promise<unknown[]> =>
  database.query(
    `SELECT setconfig FROM pg_db_role_setting
     WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()) AND setrole <> 0`,
  );

describe('settings that the role of gateways left to its later sessions', () => {
  let home: TestDatabase;

  beforeAll(async () => {
    home = await freshDatabase();
  });
  afterAll(() => home.drop());

  it('A37 are not used: a session has the settings that it had before, and may write', async () => {
    const before = await open(home.gatewayUrl);
    const expected = await shown(before);
    expect(expected.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
    await before.close();
    await leave(home, SETTINGS);
    const after = await open(home.gatewayUrl);
    expect(await leftIn(after)).toHaveLength(1);
    expect(await shown(after)).toEqual(expected);
    expect(await after.query('UPDATE row_leases SET owner = owner RETURNING name')).toEqual([]);
    await after.close();
  });

  it('A37 that end transactions after a time are not used, with a server that has them', async () => {
    const before = await open(home.gatewayUrl);
    const [known] = await before.query(`SELECT FROM pg_settings WHERE name = 'transaction_timeout'`);
    await before.close();
    if (known === undefined) return;
    // Long enough for the statements that come before the connection has its own settings.
    await leave(home, { transaction_timeout: '200ms' });
    const after = await open(home.gatewayUrl);
    expect(await after.query('SELECT pg_sleep(0.5)')).toHaveLength(1);
    await after.close();
  });

  it('A37 give way to those of the database, which the role cannot change', async () => {
    const database = new URL(home.ownerUrl).pathname.slice(1);
    const owner = await open(home.ownerUrl);
    await owner.query(`ALTER DATABASE ${database} SET work_mem = '8MB'`);
    await owner.close();
    await leave(home, { work_mem: '64kB' });
    const after = await open(home.gatewayUrl);
    expect(await after.query('SHOW work_mem')).toEqual([{ work_mem: '8MB' }]);
    await expect(after.query(`ALTER DATABASE ${database} SET work_mem = '64kB'`)).rejects.toThrow('must be owner');
    await after.close();
  });

  it('A37 are removed by config/stack/roles.sql, which keeps rows of the tables out of the log of the server', async () => {
    const other = await superuserDatabase();
    await leave({ ...home, gatewayUrl: gatewayOf(home, other.url) }, { default_transaction_read_only: 'on' });
    await ensureRoles(other.superuserUrl);
    const after = await open(gatewayOf(home, other.url));
    expect(await leftIn(after)).toEqual([]);
    expect(await after.query('SHOW log_error_verbosity')).toEqual([{ log_error_verbosity: 'terse' }]);
    await after.close();
    await other.drop();
  });
});

describe('large objects, which no retention removes', () => {
  it('A37 cannot be made by the roles of daemons in a database that config/stack/roles.sql has prepared', async () => {
    const other = await superuserDatabase();
    await ensureRoles(other.superuserUrl);
    for (const url of [other.url, gatewayOf(other, other.url)]) {
      const stolen = await open(url);
      for (const call of ["lo_from_bytea(0, '\\x00')", 'lo_create(0)', 'lo_creat(-1)', "lo_put(1, 0, '\\x00')"]) {
        await expect(stolen.query(`SELECT ${call}`), call).rejects.toMatchObject({
          message: expect.stringContaining('permission denied for function') as string,
        });
      }
      await stolen.close();
    }
    await other.drop();
  });
});

/** The gateways' role in another database of the same server. */
function gatewayOf({ gatewayUrl }: TestDatabase, otherUrl: string): string {
  const url = new URL(gatewayUrl);
  url.pathname = new URL(otherUrl).pathname;
  return url.href;
}
