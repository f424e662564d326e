import { prepareDatabase } from '@countersign/events';
import { Database, DataError } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { warnOfRoleFaults, type DaemonKind } from '@countersign/postgres/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  asOwner,
  emptyDatabase,
  freshDatabase,
  migrated,
  superuserDatabase,
  type TestDatabase,
} from '../support/database.js';

const INSUFFICIENT_PRIVILEGE = '42501';
/** Rights of a role by table: on the whole table, and on columns. */
const RIGHTS = `
  SELECT relname AS name, string_agg(DISTINCT kind, ',' ORDER BY kind) FILTER (WHERE has_table_privilege($1, c.oid, kind)) AS tables,
    string_agg(DISTINCT kind, ',' ORDER BY kind) FILTER (WHERE NOT has_table_privilege($1, c.oid, kind)
      AND kind IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') AND has_any_column_privilege($1, c.oid, kind)) AS columns
  FROM pg_class c CROSS JOIN (SELECT DISTINCT privilege_type FROM aclexplode(acldefault('r', 10::oid))) AS kinds (kind)
  WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace GROUP BY relname
  HAVING bool_or(CASE WHEN kind IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
    THEN has_any_column_privilege($1, c.oid, kind) ELSE has_table_privilege($1, c.oid, kind) END)
  ORDER BY relname`;
const RIGHTS_OF_ALL = `
  SELECT string_agg(kind, ',' ORDER BY kind) FILTER (WHERE has_table_privilege($1, $2::regclass, kind)) AS kinds
  FROM (SELECT DISTINCT privilege_type FROM aclexplode(acldefault('r', 10::oid))) AS kinds (kind)`;
const COLUMNS = `
  SELECT attname AS name FROM pg_attribute
  WHERE attrelid = $2::regclass AND attnum > 0 AND NOT attisdropped AND has_column_privilege($1, attrelid, attnum, $3)
  ORDER BY attname`;

const open = (url: string): Promise<Database> =>
  Database.open({ url, poolMax: 4, applicationName: 'medium', onError: () => undefined });

const sqlStateOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof DataError) return error.sqlState;
      throw error;
    },
  );

const roleOf = (url: string): string => new URL(url).username;

describe("the gateways' role", () => {
  let home: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    home = await freshDatabase();
    database = await open(home.gatewayUrl);
    await ensurePartitions(database, Date.now());
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });

  it('has rights on the tables that a gateway uses', async () => {
    const rows = await database.query<{ name: string; tables: string | null; columns: string | null }>(RIGHTS, [
      roleOf(home.gatewayUrl),
    ]);
    expect(Object.fromEntries(rows.map(({ name, tables, columns }) => [name, [tables, columns]]))).toEqual({
      accounts: [null, 'SELECT'],
      admin_keys: [null, 'SELECT'],
      api_keys: [null, 'SELECT'],
      bind_connections: ['SELECT', 'INSERT,UPDATE'],
      binds: ['SELECT', null],
      bus_payloads: ['DELETE,INSERT,SELECT', null],
      card_agents: ['INSERT,SELECT,UPDATE', null],
      card_events: ['INSERT,SELECT', 'UPDATE'],
      card_phones: ['INSERT,SELECT,UPDATE', null],
      card_recipients: ['INSERT,SELECT,UPDATE', null],
      cards: ['SELECT', 'UPDATE'],
      concatenation_parts: ['DELETE,INSERT,SELECT,UPDATE', null],
      concatenations: ['DELETE,INSERT,SELECT,UPDATE', null],
      events: [null, 'INSERT,SELECT'],
      former_numbers: ['SELECT', null],
      gateways: ['DELETE,INSERT,SELECT,UPDATE', null],
      inbound_numbers: ['SELECT', null],
      key_checks: ['SELECT', null],
      messages: ['INSERT', 'SELECT'],
      migrations: ['SELECT', null],
      outbound_messages: ['SELECT', 'UPDATE'],
      prices: ['SELECT', null],
      queue_switches: ['SELECT', null],
      routes: ['SELECT', null],
      row_leases: ['DELETE,INSERT,SELECT,UPDATE', null],
      sender_formats: ['SELECT', 'INSERT,UPDATE'],
      sessions: [null, 'SELECT,UPDATE'],
      smpp_systems: ['SELECT', 'UPDATE'],
      submissions: ['DELETE,INSERT,SELECT,UPDATE', null],
      system_connections: ['DELETE,INSERT,SELECT,UPDATE', null],
      system_refusals: ['INSERT,SELECT,UPDATE', null],
      test_messages: ['SELECT', 'UPDATE'],
    });
  });

  it.each([
    [
      'accounts',
      'SELECT',
      ['default_webhook_disabled_at', 'default_webhook_url', 'id', 'test_webhook_url', 'webhook_events'],
    ],
    ['api_keys', 'SELECT', ['digest_version', 'revoked_at']],
    ['admin_keys', 'SELECT', ['digest_version', 'revoked_at']],
    ['smpp_systems', 'UPDATE', ['digest_version', 'password_digest']],
    [
      'sessions',
      'UPDATE',
      ['approved_by', 'channel', 'ended_at', 'ended_xid', 'otp_digests', 'rcs_xid', 'sender_mismatch_at', 'status'],
    ],
    ['events', 'SELECT', ['id']],
    ['events', 'INSERT', ['account_id', 'data', 'id', 'occurred_at', 'session_id', 'test', 'type', 'webhook_url']],
    ['messages', 'SELECT', ['id']],
  ])('has on %s the right %s of no other columns', async (table, right, columns) => {
    const rows = await database.query<{ name: string }>(COLUMNS, [roleOf(home.gatewayUrl), table, right]);
    expect(rows.map(({ name }) => name)).toEqual(columns);
  });

  it.each([
    'SELECT webhook_secret_sealed FROM accounts',
    'SELECT previous_webhook_secrets_sealed FROM accounts',
    'SELECT test_webhook_secret_sealed FROM accounts',
    "UPDATE accounts SET default_webhook_url = 'https://evil.example'",
    "UPDATE accounts SET otp_countries = '{}'",
    'SELECT digest FROM api_keys',
    "UPDATE api_keys SET scopes = '{*}'",
    'UPDATE api_keys SET revoked_at = NULL',
    'SELECT digest FROM admin_keys',
    "UPDATE admin_keys SET role = 'owner'",
    'DELETE FROM admin_keys',
    'SELECT * FROM audit_entries',
    'DELETE FROM audit_entries',
    'SELECT otp_digests FROM sessions',
    "UPDATE sessions SET phone = '+14155550199'",
    'DELETE FROM sessions',
    "UPDATE sessions SET expires_at = 'infinity'",
    'SELECT body_sealed FROM deliveries',
    "UPDATE deliveries SET url = 'https://evil.example'",
    'SELECT data FROM events',
    'SELECT text_sealed FROM messages',
    "UPDATE outbound_messages SET destination = '+14155550199'",
    'UPDATE binds SET trusted_for_mo = true',
    'UPDATE smpp_systems SET trusted_for_mo = true',
    'DELETE FROM routes',
    'UPDATE prices SET usd = 0',
    'UPDATE queue_switches SET paused_at = NULL',
    'SELECT * FROM idempotency_keys',
    'DELETE FROM otp_counters',
    "UPDATE key_checks SET value = ''",
    'UPDATE key_checks SET retired_at = NULL',
    "INSERT INTO key_checks (purpose, version, value, fingerprint) VALUES ('master', 9, '', '')",
    `SELECT drop_day_partition('sessions', current_date - 10, 4)`,
    'CREATE TABLE mine (id integer)',
    'TRUNCATE gateways',
    'SET ROLE countersign_app',
    'SET ROLE countersign_owner',
  ])('may not: %s', async (statement) => {
    expect(await sqlStateOf(database.query(statement))).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it.each(['sessions', 'deliveries', 'events', 'messages', 'outbound_messages', 'cards', 'card_events'])(
    'may do with a day of %s what it may do with the table',
    async (parent) => {
      const days = await database.query<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass`,
        [parent],
      );
      expect(days.length).toBeGreaterThan(0);
      const rightsOn = async (name: string): Promise<unknown> => {
        const [rights] = (await database.query<object>(RIGHTS_OF_ALL, [roleOf(home.gatewayUrl), name])) as unknown[];
        const columns = ['SELECT', 'INSERT', 'UPDATE'].map((right) =>
          database.query<{ name: string }>(COLUMNS, [roleOf(home.gatewayUrl), name, right]),
        );
        return [rights, await Promise.all(columns)];
      };
      const wanted = await rightsOn(parent);
      for (const { name } of days) expect(await rightsOn(name)).toEqual(wanted);
    },
  );

  it('loses when it is prepared again: the function that drops partitions', async () => {
    const drop = `SELECT drop_day_partition('sessions', current_date - 40, 30)`;
    await asOwner(
      home,
      `GRANT EXECUTE ON FUNCTION drop_day_partition(text, date, integer) TO ${roleOf(home.gatewayUrl)}`,
    );
    expect(await sqlStateOf(database.query(drop))).toBe('done');
    await migrated(home);
    expect(await sqlStateOf(database.query(drop))).toBe(INSUFFICIENT_PRIVILEGE);
    const controlPlane = await open(home.url);
    expect(await sqlStateOf(controlPlane.query(drop))).toBe('done');
    await controlPlane.close();
  });

  it('is prepared again without a change, and leaves control planes the rights of theirs', async () => {
    const acls = `SELECT relname, relacl::text, (SELECT array_agg(attacl::text ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = pg_class.oid) AS columns FROM pg_class WHERE relkind IN ('r', 'p', 'S') ORDER BY oid`;
    const before = await database.query(acls);
    await migrated(home);
    expect(await database.query(acls)).toEqual(before);
    const controlPlane = await open(home.url);
    await controlPlane.query('UPDATE accounts SET name = name');
    await controlPlane.close();
  });

  it.each([
    ['all rights on all tables', 'GRANT ALL ON ALL TABLES IN SCHEMA public TO gateway'],
    ['all rights by PUBLIC', 'GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC'],
    ['a column that it need not read', 'GRANT SELECT (webhook_secret_sealed) ON accounts TO gateway'],
    [
      'rights on tables that are made later',
      'ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO gateway',
    ],
  ])('loses when it is prepared again: %s', async (_, statement) => {
    const before = await database.query(RIGHTS, [roleOf(home.gatewayUrl)]);
    await asOwner(home, statement.replace('gateway', roleOf(home.gatewayUrl)));
    await migrated(home);
    await asOwner(home, 'CREATE TABLE later (id integer)');
    try {
      expect(await database.query(RIGHTS, [roleOf(home.gatewayUrl)])).toEqual(before);
    } finally {
      await asOwner(home, 'DROP TABLE later');
    }
  });

  it('is told of by its name when it is a member of the role of control planes', async () => {
    const other = await superuserDatabase();
    const asSuperuser = (statement: string): Promise<void> =>
      asOwner({ ...other, ownerUrl: other.superuserUrl }, statement);
    const gatewayRole = `gateway_${new URL(other.url).pathname.slice(-12)}`;
    await asSuperuser(`CREATE ROLE ${gatewayRole} IN ROLE ${roleOf(other.url)}`);
    try {
      const { faults } = await prepareDatabase({
        ownerUrl: other.superuserUrl,
        daemonRole: roleOf(other.url),
        gatewayRole,
      });
      expect(faults).toContainEqual({
        role: gatewayRole,
        fault: `it has INSERT, SELECT on audit_entries, granted to ${roleOf(other.url)}`,
        onAudit: false,
      });
    } finally {
      await asSuperuser(`DROP OWNED BY ${gatewayRole}; DROP ROLE ${gatewayRole}`);
      await other.drop();
    }
  });
});

describe('a process that has started', () => {
  const warningsOf = async (url: string, process: DaemonKind = 'daemon'): Promise<string[]> => {
    const database = await open(url);
    const warnings: string[] = [];
    await warnOfRoleFaults(database, process, (message) => warnings.push(message));
    await database.close();
    return warnings;
  };

  it('is not warned of a role as migrate leaves it', async () => {
    const home = await freshDatabase();
    expect(await warningsOf(home.url)).toEqual([]);
    expect(await warningsOf(home.gatewayUrl, 'gateway')).toEqual([]);
    await home.drop();
  });

  it('is warned, as a gateway, of the role of control planes, unless gateways have no role of their own', async () => {
    const home = await freshDatabase();
    const { fault, todo } = { fault: 'it has DELETE, INSERT, UPDATE on ', todo: ' .*config/stack/roles.sql' };
    const warnings = await warningsOf(home.url, 'gateway');
    expect(warnings).toContainEqual(expect.stringMatching(`may do more than a gateway needs: ${fault}.*${todo}`));
    expect(await warningsOf(home.url, 'daemon')).toEqual([]);
    await home.drop();
    const single = await emptyDatabase();
    await prepareDatabase({ ownerUrl: single.ownerUrl, daemonRole: roleOf(single.url) });
    expect(await warningsOf(single.url, 'gateway')).toEqual([]);
    await single.drop();
  });

  it('is warned of the owner, of a superuser and of rights that were granted by hand, each with what to do', async () => {
    const home = await superuserDatabase();
    await prepareDatabase({ ownerUrl: home.superuserUrl, daemonRole: roleOf(home.url) });
    const todo = ' .*config/stack/roles.sql.* run "npm run migrate"$';
    expect(await warningsOf(home.superuserUrl)).toContainEqual(
      expect.stringMatching(new RegExp(`may do more than a daemon needs: it is a superuser\\.${todo}`)),
    );
    await asOwner({ ...home, ownerUrl: home.superuserUrl }, `GRANT DELETE ON audit_entries TO ${roleOf(home.url)}`);
    expect(await warningsOf(home.url)).toEqual([
      expect.stringMatching(`it has DELETE on audit_entries, granted to ${roleOf(home.url)}\\.${todo}`),
      expect.stringMatching('may create temporary tables.* run "REVOKE TEMPORARY ON DATABASE .*"'),
    ]);
    await asOwner(
      { ...home, ownerUrl: home.superuserUrl },
      `REVOKE TEMPORARY ON DATABASE ${new URL(home.url).pathname.slice(1)} FROM PUBLIC`,
    );
    expect(await warningsOf(home.url)).toHaveLength(1);
    await home.drop();
    const owned = await freshDatabase();
    expect(await warningsOf(owned.ownerUrl)).toContainEqual(expect.stringMatching(`: it owns the tables\\.${todo}`));
    await owned.drop();
  });

  it.each([
    ['ALTER DATABASE name SET search_path = elsewhere, public', 'search_path=elsewhere, public', 'ALTER DATABASE name'],
    ['ALTER DATABASE name SET row_security = off', 'row_security=off', 'ALTER DATABASE name'],
    ['ALTER ROLE role IN DATABASE name SET role = role', 'role=role', 'ALTER ROLE role IN DATABASE name'],
  ])('is warned of a setting that the database gives to its sessions: %s', async (statement, setting, undo) => {
    const home = await freshDatabase();
    const filled = (text: string): string =>
      text
        .replace('name', new URL(home.url).pathname.slice(1))
        .replaceAll(/(?<=ROLE |= |role=)role/g, roleOf(home.url));
    const superuser = await superuserDatabase();
    await asOwner({ ...home, ownerUrl: superuser.superuserUrl }, filled(statement));
    expect(await warningsOf(home.url)).toEqual([
      expect.stringContaining(
        `its sessions begin with ${filled(setting)}, which ${filled(undo)} RESET ${setting.split('=')[0] ?? ''} undoes`,
      ),
    ]);
    await home.drop();
    await superuser.drop();
  });

  it('is not stopped by a database whose roles cannot be read', async () => {
    const empty = await emptyDatabase();
    expect(await warningsOf(empty.url)).toEqual([expect.stringContaining('could not be checked')]);
    await empty.drop();
  });
});
