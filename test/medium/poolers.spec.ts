import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { prepareQueues } from '@countersign/bus';
import { Database, DatabaseUnavailable } from '@countersign/postgres';
import { noStatement } from '@countersign/postgres/statements';
import { checkSchema, migrate, usesPooler } from '@countersign/postgres/schema';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { asOwner, freshDatabase, type TestDatabase } from '../support/database.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { PgBouncer, pgbouncerIsMissing, type PgBouncerOptions } from '../support/pgbouncer.js';
import { startReceiver } from '../support/receiver.js';
import { promote, startPair } from '../support/standby.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;
const MODES = ['session', 'transaction'] as const;
const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'timezone'];
const EXPECTED = ['2500ms', '1200ms', '5s', 'UTC'];
/** In session mode each connection of a process has one of the server; in transaction mode few are shared by all. */
const poolSizeOf = (mode: PgBouncerOptions['mode']): number => (mode === 'session' ? 40 : 3);

const shown = (names: readonly string[]): string =>
  `SELECT ${names.map((name) => `current_setting('${name}')`).join(` || ' ' || `)} AS text`;

describe.skipIf(pgbouncerIsMissing)('connections through PgBouncer', () => {
  let home: TestDatabase;
  const opened: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    home = await freshDatabase();
  });
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close();
  });
  afterAll(() => home.drop());

  async function pooler(mode: PgBouncerOptions['mode'], ignoresSettings: boolean, poolSize = 1): Promise<PgBouncer> {
    const started = await PgBouncer.start([home.url, home.ownerUrl, home.gatewayUrl], {
      mode,
      ignoresSettings,
      poolSize,
    });
    opened.push({ close: () => started.stop() });
    return started;
  }
  async function open(url: string): Promise<Database> {
    const database = await Database.open({ url, poolMax: 2, applicationName: 'test', onError: () => undefined });
    opened.push(database);
    return database;
  }

  for (const mode of MODES) {
    for (const ignoresSettings of [false, true]) {
      const how = `in ${mode} mode, ${ignoresSettings ? 'ignoring' : 'refusing'} settings at the start`;

      it(`is recognised ${how}, and a server is not`, async () => {
        const { urlOf } = bound(await pooler(mode, ignoresSettings));
        expect([await usesPooler(urlOf(home.url)), await usesPooler(home.url)]).toEqual([true, false]);
        await expect(checkSchema(urlOf(home.url))).resolves.toBeUndefined();
      });

      it(`has the same settings in each statement and transaction ${how}`, async () => {
        const { urlOf } = bound(await pooler(mode, ignoresSettings, poolSizeOf(mode)));
        const database = await open(urlOf(home.url));
        expect(await database.query(shown(TIMEOUTS))).toEqual([{ text: EXPECTED.join(' ') }]);
        const found = await database.transaction((tx) => tx.query(shown(TIMEOUTS)));
        expect(found).toEqual([{ text: EXPECTED.join(' ') }]);
        const read = await database.readThenWrite(
          (tx) => tx.query(shown(TIMEOUTS)),
          (rows) => noStatement(rows),
        );
        expect(read).toEqual([{ text: EXPECTED.join(' ') }]);
        const long = await database.maintenance(60_000, (session) => session.query('SHOW statement_timeout'));
        expect(long).toEqual([{ statement_timeout: '1min' }]);
      });
    }
  }

  it('stay usable after a statement that failed', async () => {
    const { urlOf } = bound(await pooler('transaction', false, 2));
    const database = await open(urlOf(home.url));
    await expect(database.query('SELECT 1 / $1::integer', [0])).rejects.toMatchObject({ sqlState: '22012' });
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('refuse settings of the role, which the pooler would leave in use', async () => {
    const { urlOf } = bound(await pooler('transaction', false));
    const { username, pathname } = new URL(home.ownerUrl);
    const owner = await open(home.ownerUrl);
    const change = `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)}`;
    await owner.query(`${change} SET lock_timeout = '1s'`);
    await open(urlOf(home.ownerUrl));
    await owner.query(`${change} SET work_mem = '64kB'`);
    await expect(open(urlOf(home.ownerUrl))).rejects.toThrow(`the role ${username} has settings of its own (work_mem)`);
    await owner.query(`${change} RESET ALL`);
    await open(urlOf(home.ownerUrl));
  });

  describe('which another client with the role of gateways has used', () => {
    /** The connection of the server that all clients of this pooler share, after these statements of the other client. */
    async function shared(...statements: readonly string[]): Promise<Database> {
      const { urlOf } = bound(await pooler('transaction', false));
      const other = new pg.Client({ connectionString: urlOf(home.gatewayUrl) });
      await other.connect();
      for (const statement of statements) await other.query(statement);
      await other.end();
      return open(urlOf(home.gatewayUrl));
    }
    const WRITE = 'UPDATE row_leases SET owner = owner';
    const READ = 'SELECT count(*)::integer AS rows FROM routes';

    it('read the real tables, whatever temporary ones and path it left', async () => {
      const [database, role] = [new URL(home.url).pathname.slice(1), new URL(home.gatewayUrl).username];
      await asOwner(home, `GRANT TEMPORARY ON DATABASE ${database} TO ${role}`);
      const forged = 'CREATE TEMP TABLE routes AS SELECT generate_series(1, 3)';
      for (const path of ['public', 'pg_temp, public', 'pg_temp, pg_catalog']) {
        const gateway = await shared(forged, `SET search_path = ${path}`);
        expect(await gateway.query(READ)).toEqual([{ rows: 0 }]);
        expect((await gateway.query<{ name: string }>('SELECT current_schema()::text AS name'))[0]?.name).toBe(
          'public',
        );
      }
      await asOwner(home, `REVOKE TEMPORARY ON DATABASE ${database} FROM ${role}`);
    });

    it('read the tables of the schema that ALTER DATABASE names', async () => {
      const database = new URL(home.url).pathname.slice(1);
      await asOwner(home, `ALTER DATABASE ${database} SET search_path = pg_catalog, public`);
      const gateway = await shared('SET search_path = public');
      expect(await gateway.query('SHOW search_path')).toEqual([{ search_path: 'pg_catalog, public, pg_temp' }]);
      await asOwner(home, `ALTER DATABASE ${database} RESET search_path`);
    });

    it('write, as themselves, and wait for the disk', async () => {
      const gateway = await shared('SET default_transaction_read_only = on', 'SET synchronous_commit = off');
      expect(await gateway.query(WRITE)).toEqual([]);
      expect(await gateway.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
    });

    it('write, although the role has a setting of its own against it', async () => {
      const [database, role] = [new URL(home.url).pathname.slice(1), new URL(home.gatewayUrl).username];
      const change = `ALTER ROLE ${role} IN DATABASE ${database}`;
      const gateway = await shared(`${change} SET default_transaction_read_only = on`);
      expect(await gateway.query(WRITE)).toEqual([]);
      const { urlOf } = bound(await pooler('transaction', false));
      expect(await (await open(urlOf(home.gatewayUrl))).query(WRITE)).toEqual([]);
      await gateway.query(`${change} RESET ALL`);
    });
  });

  it('are unavailable while the pooler leads to a standby, and work once it was promoted', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-pooled-standby-'));
    const { primary, standby } = await startPair(folder);
    const through = await PgBouncer.start([standby.url], { mode: 'transaction', ignoresSettings: false, poolSize: 1 });
    const database = await open(through.urlOf(standby.url));
    await expect(database.query('SELECT 1 AS one')).rejects.toThrow(DatabaseUnavailable);
    await promote(standby);
    await until('a statement succeeds', WITHIN_MS, () =>
      database.query('CREATE TABLE IF NOT EXISTS kept (n int)').then(
        () => true,
        () => false,
      ),
    );
    await database.close();
    await through.stop();
    await standby.stop();
    await primary.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('are refused by migrations, and without Redis, with what to set instead', async () => {
    for (const mode of MODES) {
      const { urlOf } = bound(await pooler(mode, true));
      await expect(migrate(urlOf(home.ownerUrl))).rejects.toThrow('set DATABASE_MIGRATION_URL');
      const queues = prepareQueues({ redisUrl: null, databaseUrl: urlOf(home.url) });
      await expect(queues).rejects.toThrow('Set REDIS_URL');
    }
  });

  it('are unavailable while the pooler is away', async () => {
    const started = await pooler('transaction', false);
    const database = await open(started.urlOf(home.url));
    await started.stop();
    await expect(database.query('SELECT 1')).rejects.toThrow(DatabaseUnavailable);
  });
});

const bound = (pooler: PgBouncer): { urlOf: (url: string) => string } => ({ urlOf: (url) => pooler.urlOf(url) });

describe.skipIf(pgbouncerIsMissing || inject('redisUrl') === null).each(MODES)(
  'an installation through PgBouncer in %s mode (needs Redis)',
  (mode) => {
    let harness: ControlPlaneHarness;
    let pooler: PgBouncer;
    let gateway: GatewayBeside;
    beforeAll(async () => {
      harness = await ControlPlaneHarness.open({ REDIS_URL: inject('redisUrl') ?? '' });
      const { url, gatewayUrl } = harness.home;
      const options = { mode, ignoresSettings: false, poolSize: poolSizeOf(mode) };
      pooler = await PgBouncer.start([url, gatewayUrl], options);
      await harness.stop();
      await harness.start({ ...harness.environment, DATABASE_URL: pooler.urlOf(url) });
      // The address without the pooler, which nothing may use from here on.
      harness.line.freeze();
      gateway = await GatewayBeside.start(harness, { DATABASE_URL: pooler.urlOf(gatewayUrl) });
    }, 120_000);
    afterAll(async () => {
      await gateway.stop();
      await harness.stop();
      await pooler.stop();
      await harness.close();
    });

    const statusOf = async (id: string): Promise<unknown> => (await harness.call(`/v1/verify/${id}`)).json['status'];

    it('approves sessions by MOs, with a webhook each', async () => {
      const receiver = await startReceiver();
      await gateway.system({ systemId: 'carrier' });
      const carrier = await gateway.esme('carrier');
      // More than a prepared statement needs to be kept, and at once, so that connections of the server are shared.
      const sessions = await Promise.all(
        Array.from({ length: 20 }, () => harness.create({ webhookUrl: receiver.url })),
      );
      expect(sessions.map(({ status }) => status)).toEqual(sessions.map(() => 200));
      const answers = await Promise.all(
        sessions.map(({ json }) => {
          const text = decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
          return carrier.send('submit_sm', sms(text));
        }),
      );
      expect(answers.map((answer) => answer.command_status)).toEqual(sessions.map(() => 0));
      const ids = sessions.map(({ json }) => String(json['id']));
      expect(await Promise.all(ids.map(statusOf))).toEqual(ids.map(() => 'approved'));
      await until('each session has its webhook', WITHIN_MS, () => receiver.sessionsSeen() === ids.length);
      await receiver.close();
    });

    it('sends a code by SMS, and accepts it', async () => {
      const carrier = new Carrier('out');
      const admin = new AdminCalls(harness);
      const link = { host: '127.0.0.1', port: await carrier.listen(), systemId: 'us', password: 'secret08' };
      const bind = await admin.post('binds', { name: 'out', ...link });
      expect((await admin.post('routes', { prefix: '+', bindId: idOf(bind) })).status).toBe(201);
      await until('the bind is bound', WITHIN_MS, () => carrier.isBound);
      const id = String((await harness.create()).json['id']);
      expect((await harness.call(`/v1/verify/${id}/send-sms`, { method: 'POST' })).status).toBe(200);
      await until('the code is submitted', WITHIN_MS, () => carrier.submits.length === 1);
      const text: unknown = Reflect.get(Object(carrier.submits[0]?.short_message) as object, 'message');
      const code = /\d{6}/.exec(String(text))?.[0];
      const check = await harness.call(`/v1/verify/${id}/check`, { method: 'POST', body: { code } });
      expect([check.status, await statusOf(id)]).toEqual([200, 'approved']);
      await carrier.close();
    });
  },
);
