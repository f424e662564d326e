import { prepareQueues } from '@countersign/bus';
import { prepareByDaemon, prepareDatabase } from '@countersign/events';
import { newId } from '@countersign/ids';
import { Database, DataError } from '@countersign/postgres';
import { dropOldPartitions, ensurePartitions } from '@countersign/postgres/partitions';
import { checkSchema, ensureSchema, migrate, revertMigration, SchemaOutdated } from '@countersign/postgres/schema';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureRoles } from '../../config/stack/postgres-roles.mjs';
import {
  asOwner,
  emptyDatabase,
  freshDatabase,
  migrated,
  pastPartitions,
  superuserDatabase,
  type TestDatabase,
} from '../support/database.js';
import { until } from '../support/until.js';

const DAY_MS = 86_400_000;
const PARENTS = ['card_events', 'cards', 'deliveries', 'events', 'messages', 'outbound_messages', 'sessions'];
const INSUFFICIENT_PRIVILEGE = '42501';
const RAISED = 'P0001';
const CHECK_VIOLATION = '23514';
/** Tables on which the role of $1 can do more than read and write rows, or which it cannot only append to but should. */
const UNUSUAL_RIGHTS = `
  SELECT relname AS name, string_agg(kind, ',' ORDER BY kind) AS kinds
  FROM pg_class CROSS JOIN (SELECT DISTINCT privilege_type FROM aclexplode(acldefault('r', 10::oid))) AS kinds (kind)
  WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, 'bullmq'::regnamespace)
    AND has_table_privilege($1, pg_class.oid, kind)
    AND (kind NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') OR relname = 'audit_entries' OR relname = 'migration_lock')
  GROUP BY relname`;
const APPEND_ONLY = [{ name: 'audit_entries', kinds: 'INSERT,SELECT' }];

const open = (url: string): Promise<Database> =>
  Database.open({ url, poolMax: 4, applicationName: 'medium', onError: () => undefined });

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const partitionAt = (parent: string, ms: number): string => `${parent}_p${isoDay(ms).replaceAll('-', '')}`;

const sqlStateOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof DataError) return error.sqlState;
      throw error;
    },
  );

describe("the daemons' role", () => {
  let home: TestDatabase;
  let database: Database;
  let nowMs: number;

  beforeAll(async () => {
    home = await freshDatabase();
    database = await open(home.url);
    const [row] = await database.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    nowMs = Math.floor(row?.ms ?? 0);
    await ensurePartitions(database, nowMs);
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });

  const partitionsOf = async (parent: string): Promise<string[]> => {
    const rows = await database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = $1::regclass AND relkind = 'r' ORDER BY relname`,
      [parent],
    );
    return rows.map(({ name }) => name);
  };

  it('is neither a superuser nor the owner, and may make neither roles nor databases', async () => {
    const roles = await database.query(
      `SELECT rolname AS name, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS "isStrong",
         pg_has_role(rolname, 'countersign_owner', 'MEMBER') AS "isOwner"
       FROM pg_roles WHERE rolname IN (current_user, 'countersign_owner') ORDER BY rolname`,
    );
    expect(roles).toEqual([
      { name: 'countersign_app', isStrong: false, isOwner: false },
      { name: 'countersign_owner', isStrong: false, isOwner: true },
    ]);
  });

  it.each([
    'CREATE TABLE mine (id integer)',
    'CREATE TEMP TABLE mine (id integer)',
    'CREATE UNLOGGED TABLE mine (id integer)',
    'CREATE SCHEMA mine',
    'CREATE FUNCTION mine() RETURNS integer LANGUAGE sql RETURN 1',
    'CREATE TABLE bullmq.mine (id integer)',
    'ALTER TABLE accounts ADD COLUMN mine integer',
    'ALTER TABLE accounts DISABLE TRIGGER ALL',
    'ALTER TABLE accounts OWNER TO countersign_app',
    'DROP TABLE accounts',
    'DROP TABLE bullmq.job',
    'TRUNCATE accounts',
    'CREATE INDEX mine ON accounts (name)',
    'DROP FUNCTION make_day_partition(text, date)',
    'SELECT rolpassword FROM pg_authid',
    'SELECT * FROM pg_shadow',
    'CREATE ROLE mine',
    'ALTER ROLE countersign_app SUPERUSER',
    'SET ROLE countersign_owner',
    "COPY accounts TO PROGRAM 'cat'",
    "SELECT pg_read_file('/etc/passwd')",
    'ALTER SYSTEM SET log_statement = none',
    'UPDATE audit_entries SET actor = actor',
    'DELETE FROM audit_entries',
    "INSERT INTO migrations (timestamp, name) VALUES (1, 'Mine')",
    'DELETE FROM migrations',
    'DO $$ BEGIN LOCK TABLE migration_lock IN ACCESS SHARE MODE; END $$',
  ])('may not: %s', async (statement) => {
    expect(await sqlStateOf(database.query(statement))).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it('may read and write every table but the audit log, which it may only append to', async () => {
    const rows = await database.query<{ name: string; privileges: string }>(
      `SELECT relname AS name, array_to_string(ARRAY(
         SELECT privilege FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
           AS privilege WHERE has_table_privilege(pg_class.oid, privilege)), ',') AS privileges
       FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, 'bullmq'::regnamespace)`,
    );
    const unusual = rows.filter(({ privileges }) => privileges !== 'SELECT,INSERT,UPDATE,DELETE');
    expect(rows.length).toBeGreaterThan(40);
    expect(new Map(unusual.map(({ name, privileges }) => [name, privileges]))).toEqual(
      new Map([
        ['audit_entries', 'SELECT,INSERT'],
        ['key_checks', 'SELECT,INSERT,UPDATE'],
        ['migration', 'SELECT'],
        ['migrations', 'SELECT'],
        ['migration_lock', ''],
      ]),
    );
  });

  it.each([
    'infinity',
    '-infinity',
    '10000-01-01 00:00:00+00',
    '290000-01-01 00:00:00+00',
    '0044-03-15 00:00:00+00 BC',
  ])('may not append an audit entry of a time that no page could show: %s', async (at) => {
    const appending = database.query(
      `INSERT INTO audit_entries (id, at, actor, action, resource, resource_id)
         VALUES (gen_random_uuid(), $1, 'root', 'update', 'brands', 'brd_1')`,
      [at],
    );
    expect(await sqlStateOf(appending)).toBe(CHECK_VIOLATION);
  });

  it('has partitions made by the owner, with the bounds of their day', async () => {
    for (const parent of PARENTS) expect(await partitionsOf(parent)).toHaveLength(9);
    const [{ owner } = { owner: '' }] = await database.query<{ owner: string }>(
      `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class WHERE relname ~ '^sessions_p'`,
    );
    expect(owner).toBe('countersign_owner');
    const startMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
    const ids = [newId(startMs - 1), newId(startMs), newId(startMs + DAY_MS - 1), newId(startMs + DAY_MS)];
    const places = await database.query<{ place: string }>(
      `INSERT INTO events (id, type, account_id, session_id, data, occurred_at)
       SELECT id, 'verification.completed', id, id, '{}', now() FROM unnest($1::uuid[]) AS id
       RETURNING tableoid::regclass::text AS place`,
      [ids],
    );
    expect(places.map(({ place }) => place)).toEqual(
      [startMs - 1, startMs, startMs, startMs + DAY_MS].map((ms) => partitionAt('events', ms)),
    );
  });

  it.each([
    ['a table that has no day partitions', 'accounts', 0],
    ['no table', null, 0],
    ['a table named with a statement', 'events; DROP TABLE accounts', 0],
    ['a day too far ahead', 'events', 10],
    ['a day long past', 'events', -3],
    ['no day', 'events', null],
  ])('has no partition made for %s', async (_, parent, days) => {
    const day = days === null ? null : isoDay(nowMs + days * DAY_MS);
    expect(await sqlStateOf(database.query('SELECT make_day_partition($1, $2::date)', [parent, day]))).toBe(RAISED);
  });

  it.each([
    ['a day within retention', 'events', -30, 30],
    ['a retention under four days', 'events', -3, 1],
    ['a negative retention', 'events', 0, -1],
    ['no retention', 'events', -40, null],
    ['a table that has no day partitions', 'accounts', -40, 30],
    ['no table', null, -40, 30],
    ['no day', 'events', null, 30],
  ])('has no partition dropped for %s', async (_, parent, days, retentionDays) => {
    const day = days === null ? null : isoDay(nowMs + days * DAY_MS);
    const values = [parent, day, retentionDays];
    const dropping = database.query('SELECT drop_day_partition($1, $2::date, $3::integer)', values);
    expect(await sqlStateOf(dropping)).toBe(RAISED);
  });

  it.each([' BC', '-infinity', '1999-12-31'])('has no partition dropped of a day before them all: %s', async (text) => {
    const day = text === ' BC' ? isoDay(nowMs) + text : text;
    const dropping = database.query('SELECT drop_day_partition($1, $2::date, 30)', ['cards', day]);
    expect(await sqlStateOf(dropping)).toBe(RAISED);
    expect(await partitionsOf('cards')).toContain(partitionAt('cards', nowMs));
  });

  it('has old partitions dropped, and cannot have younger ones dropped by a wrong clock', async () => {
    await pastPartitions(home, nowMs - 40 * DAY_MS);
    const old = (await partitionsOf('events')).filter((name) => name < partitionAt('events', nowMs - 20 * DAY_MS));
    expect(old).toHaveLength(9);
    const young = (await partitionsOf('events')).filter((name) => !old.includes(name));
    const dropped = database.query(`SELECT drop_day_partition('events', current_date - 1, 30)`);
    await expect(dropped).rejects.toThrow(/partitions are dropped after/);
    await expect(dropOldPartitions(database, nowMs + 100 * DAY_MS, 30)).rejects.toThrow();
    expect(await partitionsOf('events')).toEqual(expect.arrayContaining(young));
    await dropOldPartitions(database, nowMs, 30);
    for (const parent of PARENTS) expect(await partitionsOf(parent)).toHaveLength(9);
  });

  it('has a partition dropped though somebody reads the table meanwhile, once that has ended', async () => {
    await pastPartitions(home, nowMs - 60 * DAY_MS);
    const reader = new pg.Client({ connectionString: home.url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM deliveries');
    const dropping = dropOldPartitions(database, nowMs, 30);
    await until('the drop waits for the reader', 20_000, async () => {
      const waiting = await database.query(
        `SELECT FROM pg_locks WHERE NOT granted AND relation = 'deliveries'::regclass`,
      );
      return waiting.length > 0;
    });
    // An insert is let through between two tries, though the reader has not ended.
    const id = newId(nowMs);
    await database.query(
      `INSERT INTO deliveries (id, account_id, session_id, type, url, occurred_at, next_attempt_at)
       VALUES ($1, $1, $1, 'verification.completed', 'https://acme.example', now(), now())`,
      [id],
    );
    await reader.query('COMMIT');
    await reader.end();
    expect(await dropping).toContain(partitionAt('deliveries', nowMs - 60 * DAY_MS));
  });

  it('cannot put a table of its own in the way of the functions of the owner', async () => {
    const [row] = await database.query<{ paths: string[] }>(
      `SELECT array_agg(DISTINCT proconfig[1]) AS paths FROM pg_proc
       WHERE prosecdef AND pronamespace = 'public'::regnamespace`,
    );
    expect(row?.paths).toEqual(['search_path=public, pg_temp']);
    const callers = await database.query(
      `SELECT proname FROM pg_proc WHERE prosecdef AND has_function_privilege('pg_monitor', oid, 'EXECUTE')
         AND pronamespace = 'public'::regnamespace`,
    );
    expect(callers).toEqual([]);
  });
});

describe('a database', () => {
  let home: TestDatabase;

  beforeAll(async () => {
    home = await emptyDatabase();
  });
  afterAll(() => home.drop());

  it('without tables starts no daemon, and the error names the command', async () => {
    await expect(checkSchema(home.url)).rejects.toThrow(SchemaOutdated);
    await expect(checkSchema(home.url)).rejects.toThrow(
      /has no tables: run "npm run migrate" with DATABASE_MIGRATION_URL/,
    );
    await expect(prepareQueues({ redisUrl: null, databaseUrl: home.url })).rejects.toThrow(/npm run migrate/);
  });

  it('is migrated by a daemon in development whose role owns the tables, and by no other', async () => {
    const other = await emptyDatabase();
    await expect(ensureSchema(other.ownerUrl, null)).rejects.toThrow(SchemaOutdated);
    await expect(ensureSchema(other.url, prepareByDaemon)).rejects.toThrow(/has no tables: run "npm run migrate"/);
    await ensureSchema(other.ownerUrl, prepareByDaemon);
    await checkSchema(other.ownerUrl);
    await prepareQueues({ redisUrl: null, databaseUrl: other.ownerUrl });
    await other.drop();
  });

  it('migrated for no other role than the owner starts no daemon', async () => {
    const other = await emptyDatabase();
    await prepareDatabase({ ownerUrl: other.ownerUrl, daemonRole: null });
    await expect(checkSchema(other.url)).rejects.toThrow(
      /was not given its rights in the database: run "npm run migrate"/,
    );
    await other.drop();
  });

  it('of an earlier release starts no daemon, and that of a later one does', async () => {
    await migrated(home);
    await checkSchema(home.url);
    await prepareQueues({ redisUrl: null, databaseUrl: home.url });
    await revertMigration(home.ownerUrl);
    await expect(checkSchema(home.url)).rejects.toThrow(/lacks \w+: run "npm run migrate"/);
    await migrate(home.ownerUrl);
    await asOwner(home, `INSERT INTO migrations (timestamp, name) VALUES (1800000000000, 'Later1800000000000')`);
    await checkSchema(home.url);
    await asOwner(home, `DELETE FROM migrations WHERE name = 'Later1800000000000'`);
  });

  it('is prepared once, by any number of processes, and again without a change', async () => {
    const daemonRole = new URL(home.url).username;
    const other = await emptyDatabase();
    const { ownerUrl } = other;
    const done = await Promise.all([1, 2, 3].map(() => prepareDatabase({ ownerUrl, daemonRole })));
    expect(done.filter((each) => each.done.length > 0)).toHaveLength(1);
    expect(await prepareDatabase({ ownerUrl, daemonRole })).toEqual({ done: [], faults: [] });
    await other.drop();
  });

  it("of an earlier release, a superuser's, changes hands with all that is in it", async () => {
    const other = await superuserDatabase();
    const superuser = await open(other.superuserUrl);
    await prepareDatabase({ ownerUrl: other.superuserUrl, daemonRole: null });
    const nowMs = Date.now();
    await ensurePartitions(superuser, nowMs);
    await superuser.close();
    await ensureRoles(other.superuserUrl);
    await ensureRoles(other.superuserUrl);
    await migrated(other);
    const daemon = await open(other.url);
    const owners = await daemon.query(
      `SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class
       WHERE relnamespace IN ('public'::regnamespace, 'bullmq'::regnamespace)
       UNION SELECT DISTINCT proowner::regrole::text FROM pg_proc
       WHERE pronamespace IN ('public'::regnamespace, 'bullmq'::regnamespace)`,
    );
    expect(owners).toEqual([{ owner: 'countersign_owner' }]);
    await checkSchema(other.url);
    await ensurePartitions(daemon, nowMs + DAY_MS);
    await daemon.query('UPDATE row_leases SET owner = owner');
    await daemon.close();
    await other.drop();
  });

  it('says what a role may do that a daemon should not', async () => {
    await migrated(home);
    const daemonRole = new URL(home.url).username;
    await asOwner(home, `GRANT CREATE ON SCHEMA public TO ${daemonRole}`);
    const { faults } = await prepareDatabase({ ownerUrl: home.ownerUrl, daemonRole });
    const fault: unknown = expect.stringMatching(/may create tables in the schema public: REVOKE CREATE/);
    expect(faults).toEqual([{ role: daemonRole, fault, onAudit: false }]);
    await asOwner(home, `REVOKE CREATE ON SCHEMA public FROM ${daemonRole}`);
  });

  it("is prepared though every table is made with all rights for the daemons' role and PUBLIC, which are revoked", async () => {
    const other = await emptyDatabase();
    const daemonRole = new URL(other.url).username;
    await asOwner(other, `ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO ${daemonRole}, PUBLIC`);
    const { faults } = await prepareDatabase({ ownerUrl: other.ownerUrl, daemonRole });
    expect(faults).toEqual([]);
    const daemon = await open(other.url);
    await ensurePartitions(daemon, Date.now());
    expect(await daemon.query(UNUSUAL_RIGHTS, [daemonRole])).toEqual(APPEND_ONLY);
    expect(await daemon.query(UNUSUAL_RIGHTS, ['public'])).toEqual([]);
    await daemon.query('UPDATE row_leases SET owner = owner');
    await daemon.close();
    await other.drop();
  });

  it.each([
    ['all rights on all tables', 'GRANT ALL ON ALL TABLES IN SCHEMA public, bullmq TO daemon'],
    ['all rights by PUBLIC', 'GRANT ALL ON ALL TABLES IN SCHEMA public, bullmq TO PUBLIC'],
    ['rights that it may pass on', 'GRANT ALL ON audit_entries TO daemon WITH GRANT OPTION'],
    ['a right on columns', 'GRANT UPDATE (actor), REFERENCES (id) ON audit_entries TO daemon'],
    [
      'a right that it had by PUBLIC alone',
      'REVOKE SELECT ON audit_entries FROM daemon; GRANT SELECT ON audit_entries TO PUBLIC',
    ],
  ])("prepared again takes from the daemons' role %s", async (_, statement) => {
    await migrated(home);
    const daemonRole = new URL(home.url).username;
    await asOwner(home, statement.replaceAll('daemon', daemonRole));
    const { faults } = await prepareDatabase({ ownerUrl: home.ownerUrl, daemonRole });
    expect(faults).toEqual([]);
    const daemon = await open(home.url);
    expect(await daemon.query(UNUSUAL_RIGHTS, [daemonRole])).toEqual(APPEND_ONLY);
    expect(await daemon.query(UNUSUAL_RIGHTS, ['public'])).toEqual([]);
    const beyond = await daemon.query(
      `SELECT FROM pg_class LEFT JOIN pg_attribute ON attrelid = pg_class.oid
         CROSS JOIN aclexplode(coalesce(attacl, relacl)) AS acl
       WHERE relname = 'audit_entries' AND grantee = $1::regrole
         AND (is_grantable OR privilege_type NOT IN ('SELECT', 'INSERT'))`,
      [daemonRole],
    );
    expect(beyond).toEqual([]);
    await daemon.query('UPDATE row_leases SET owner = owner');
    await daemon.close();
  });

  it.each([
    ['DELETE, TRIGGER, TRUNCATE', 'audit_entries', 'NOINHERIT', true],
    ['REFERENCES, TRIGGER, TRUNCATE', 'sessions', 'INHERIT', false],
    ['UPDATE (actor)', 'audit_entries', 'INHERIT', true],
  ])('says what a role may do by membership: %s on %s, %s', async (rights, table, inherit, onAudit) => {
    const other = await superuserDatabase();
    await ensureRoles(other.superuserUrl);
    await migrated(other);
    const asSuperuser = (statement: string): Promise<void> =>
      asOwner({ ...other, ownerUrl: other.superuserUrl }, statement);
    const [daemonRole, group] = [
      `daemon_${new URL(other.url).pathname.slice(-12)}`,
      `group_${new URL(other.url).pathname.slice(-12)}`,
    ];
    await asSuperuser(`CREATE ROLE ${group}; CREATE ROLE ${daemonRole} ${inherit} IN ROLE ${group}`);
    try {
      await asOwner(other, `GRANT ${rights} ON ${table} TO ${group}`);
      expect(await prepareDatabase({ ownerUrl: other.ownerUrl, daemonRole })).toEqual({
        done: [],
        faults: [
          {
            role: daemonRole,
            fault: `it has ${rights.replace(' (actor)', '')} on ${table}, granted to ${group}`,
            onAudit,
          },
        ],
      });
    } finally {
      await asSuperuser(`DROP OWNED BY ${daemonRole}, ${group}; DROP ROLE ${daemonRole}, ${group}`);
      await other.drop();
    }
  });
});
