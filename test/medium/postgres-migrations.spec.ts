import { newId, renderId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { migrate, revertMigration } from '@countersign/postgres/schema';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const MIGRATIONS = [
  'FirstTables1700000000001',
  'CodesLimitsUsage1700000000002',
  'CarrierGrade1700000000003',
  'Cards1700000000004',
  'WebhooksRealtime1700000000005',
  'TestMode1700000000006',
  'SenderFormat1700000000007',
  'ConversionBudget1700000000008',
  'AdminKeys1700000000011',
  'KeyRing1700000000012',
  'DatabaseRoles1700000000013',
  'IdempotencyQuota1700000000014',
  'AuditTimes1700000000015',
  'PartitionDays1700000000016',
  'EventTimes1700000000017',
  'GatewayValues1700000000018',
  'FormerNumbers1700000000019',
  'UnclaimedDeliveries1700000000020',
  'SystemSettings1700000000021',
  'GatewayBounds1700000000022',
  'RoutesToSystems1700000000024',
  'SubmitOptions1700000000025',
  'Outbind1700000000026',
  'AttemptsAndRefusals1700000000028',
  'GatewayOrders1700000000032',
  'DispatchedEvents1700000000033',
  'Members1700000000034',
  'UsageMinutes1700000000035',
  'BrandRequests1700000000036',
  'DispatchTransactions1700000000037',
  'OverviewHours1700000000038',
  'AccountRequests1700000000039',
  'ConsoleSignIns1700000000041',
  'OverviewDays1700000000042',
  'UsageDays1700000000050',
  'SecondSteps1700000000055',
  'RetentionClock1700000000063',
  'ConfirmedConsoleSessions1700000000070',
  'SharedQuotas1700000000075',
  'ConnectionEvents1700000000076',
  'TestMessages1700000000077',
  'AttemptsOfSubmissions1700000000078',
  'FormerWebhookUrls1700000000079',
  'PartitionRights1700000000080',
  'EventsWithoutSnapshots1700000000081',
];
/** A dump that has read these, or a partition of them, is waited for. */
const CHANGED_BY_LAST: readonly string[] = ['events'];
const isChangedByLast = (table: string): boolean =>
  CHANGED_BY_LAST.some((changed) => table === changed || table.startsWith(`${changed}_`));
const TABLES = `
  SELECT relname AS name FROM pg_class
  WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname`;
/** Every column with its default, every constraint and every index. */
const SHAPE = `
  SELECT relname, attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS "notNull",
    pg_get_expr(adbin, adrelid) AS definition
  FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
  UNION ALL SELECT relname, conname, contype::text, convalidated, pg_get_constraintdef(pg_constraint.oid)
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT tablename, indexname, '', true, indexdef FROM pg_indexes WHERE schemaname = 'public'
  ORDER BY relname, name, type`;

describe('migrating', () => {
  let home: TestDatabase;

  beforeEach(async () => {
    home = await emptyDatabase();
  });
  afterEach(() => home.drop());

  async function inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = await Database.open({
      url: home.ownerUrl,
      poolMax: 2,
      applicationName: 'medium',
      onError: () => undefined,
    });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  const tables = async (): Promise<string[]> =>
    inDatabase(async (database) => (await database.query<{ name: string }>(TABLES)).map((row) => row.name));

  const names = async (): Promise<string[]> =>
    inDatabase(async (database) => {
      const rows = await database.query<{ name: string }>('SELECT name FROM migrations');
      return rows.map(({ name }) => name);
    });

  const insert = (database: Database, fate: string): Promise<unknown> =>
    database.query(
      `INSERT INTO messages (id, direction, carrier, link_id, source, source_ton, source_npi, destination, data_coding,
         text_sealed, fate) VALUES (gen_random_uuid(), 'in', '', gen_random_uuid(), '', 0, 0, '', 0, '', $1)`,
      [fate],
    );

  const shape = (): Promise<object[]> => inDatabase((database) => database.query(SHAPE));

  it('makes the tables once, and says what it did', async () => {
    expect(await migrate(home.ownerUrl)).toEqual(MIGRATIONS);
    expect(await migrate(home.ownerUrl)).toEqual([]);
    expect(await tables()).toEqual(
      expect.arrayContaining(['accounts', 'brands', 'sessions', 'messages', 'events', 'deliveries', 'row_leases']),
    );
  });

  it('is done by exactly one of many processes that boot at once', async () => {
    const done = await Promise.all(Array.from({ length: 8 }, () => migrate(home.ownerUrl)));
    expect(done.flat()).toEqual(MIGRATIONS);
  });

  it('waits for no one when a process that was migrating has died', async () => {
    await migrate(home.ownerUrl);
    await inDatabase(async (database) => {
      const dying = database.transaction(async (tx) => {
        await tx.query('LOCK TABLE migration_lock IN ACCESS EXCLUSIVE MODE');
        await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
      });
      await expect(dying).rejects.toThrow();
    });
    expect(await migrate(home.ownerUrl)).toEqual([]);
  });

  it('waits for no dump of the database, which reads every table, unless it changes one', async () => {
    await migrate(home.ownerUrl);
    await revertMigration(home.ownerUrl);
    await inDatabase(async (database) => {
      await database.transaction(async (dump) => {
        for (const table of await tables())
          if (!isChangedByLast(table)) await dump.query(`LOCK TABLE ${table} IN ACCESS SHARE MODE`);
        expect(await migrate(home.ownerUrl)).toEqual(MIGRATIONS.slice(-1));
        expect(await migrate(home.ownerUrl)).toEqual([]);
      });
    });
  });

  it('holds up no read while it waits for an open transaction, and is done when that ends', async () => {
    await migrate(home.ownerUrl);
    while ((await names()).includes('WebhooksRealtime1700000000005')) await revertMigration(home.ownerUrl);
    await inDatabase(async (database) => {
      let migrated: Promise<string[]> | undefined;
      await database.transaction(async (reader) => {
        await reader.query('SELECT FROM accounts');
        migrated = migrate(home.ownerUrl);
        await until('the migration waits for the lock', 5_000, async () => {
          const waiting = await database.query(
            `SELECT FROM pg_locks WHERE NOT granted AND relation = 'accounts'::regclass`,
          );
          return waiting.length > 0;
        });
        // Behind the lock that is waited for, until the try is given up.
        expect(await database.query('SELECT FROM accounts')).toEqual([]);
      });
      expect(await migrated).toEqual(MIGRATIONS.slice(MIGRATIONS.indexOf('WebhooksRealtime1700000000005')));
    });
  });

  it('can be undone, the last one first, and done again to the same shape', async () => {
    await migrate(home.ownerUrl);
    const complete = await shape();
    for (const undone of MIGRATIONS.keys()) {
      await revertMigration(home.ownerUrl);
      const left = MIGRATIONS.slice(0, MIGRATIONS.length - 1 - undone);
      expect(await inDatabase((database) => database.query('SELECT name FROM migrations ORDER BY id'))).toEqual(
        left.map((name) => ({ name })),
      );
    }
    expect(await tables()).toEqual(['migration_lock', 'migrations']);
    expect(await migrate(home.ownerUrl)).toEqual(MIGRATIONS);
    expect(await shape()).toEqual(complete);
  });

  it('widens the check of fates behind an open read, which holds up no insert for long', async () => {
    await migrate(home.ownerUrl);
    while ((await names()).includes('SenderFormat1700000000007')) await revertMigration(home.ownerUrl);
    await inDatabase(async (database) => {
      await database.query(`CREATE TABLE messages_old PARTITION OF messages DEFAULT`);
      let migrated: Promise<string[]> | undefined;
      await database.transaction(async (reader) => {
        await reader.query('SELECT FROM messages');
        migrated = migrate(home.ownerUrl);
        await until('the migration waits for the lock', 5_000, async () => {
          const waiting = await database.query(
            `SELECT FROM pg_locks WHERE NOT granted AND relation = 'messages'::regclass`,
          );
          return waiting.length > 0;
        });
        // Behind the lock that is waited for, until the try is given up.
        await insert(database, 'no_token');
      });
      expect(await migrated).toContain('SenderFormat1700000000007');
      await insert(database, 'ambiguous_sender');
      await expect(insert(database, 'unheard_of')).rejects.toThrow();
      await database.query(`CREATE TABLE messages_new (LIKE messages INCLUDING ALL)`);
      await database.query(
        `ALTER TABLE messages ATTACH PARTITION messages_new FOR VALUES FROM (MINVALUE) TO ('00000000-0000-0000-0000-000000000001')`,
      );
    });
  });

  it('finds the long numbers that were deleted or replaced in the audit log', async () => {
    await migrate(home.ownerUrl);
    while ((await names()).includes('FormerNumbers1700000000019')) await revertMigration(home.ownerUrl);
    await inDatabase(async (database) => {
      const append = (resource: string, before: string | null, after: string | null): Promise<object[]> =>
        database.query(
          `INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after)
           VALUES (gen_random_uuid(), now(), 'root', 'change', $1, 'num_1', json_build_object('number', $2::text),
             json_build_object('number', $3::text))`,
          [resource, before, after],
        );
      await append('inbound-numbers', null, '+447786205001');
      await append('inbound-numbers', '+447786205001', '+447786205001');
      await append('inbound-numbers', '+447786205001', '+447786205002');
      await append('inbound-numbers', '+447786205002', null);
      await append('inbound-numbers', '60606', null);
      await append('routes', '+447786205003', null);
      await migrate(home.ownerUrl);
      expect(await database.query('SELECT number FROM former_numbers ORDER BY number')).toEqual([
        { number: '+447786205001' },
        { number: '+447786205002' },
      ]);
    });
  });

  it('finds the URLs that accounts replaced lately in the audit log, and later changes by themselves', async () => {
    await migrate(home.ownerUrl);
    while ((await names()).includes('FormerWebhookUrls1700000000079')) await revertMigration(home.ownerUrl);
    const accountId = newId(Date.now());
    const ownerId = renderId('acct', accountId);
    await inDatabase(async (database) => {
      const append = (ageDays: number, resourceId: string, before: object | null, after: object): Promise<object[]> =>
        database.query(
          `INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after)
           VALUES ($1, now() - make_interval(days => $2), 'root', 'update', 'accounts', $3, $4, $5)`,
          [newId(Date.now() - ageDays * 86_400_000), ageDays, resourceId, before, after],
        );
      const urls = (live: string | null, test: string | null = null): object => ({
        ...{ name: 'Acme', defaultWebhookUrl: live, testWebhookUrl: test },
      });
      await append(9, ownerId, urls('https://a/old'), urls('https://a/1'));
      await append(2, ownerId, urls('https://a/1'), urls('https://a/2'));
      await append(1, ownerId, urls('https://a/2'), urls('https://a/1', 'https://a/test'));
      await append(1, ownerId, urls('https://a/1', 'https://a/test'), urls('https://a/1', 'https://a/test'));
      await append(1, ownerId, urls('https://a/1', 'https://a/test'), urls('https://a/1'));
      await append(1, 'nobody', urls('https://a/1'), urls(null));
      await append(0, ownerId, null, urls('https://a/1'));
      await database.query(
        `INSERT INTO accounts (id, name, webhook_secret_sealed, default_webhook_url) VALUES ($1, 'Acme', '', 'https://a/1')`,
        [accountId],
      );
      await migrate(home.ownerUrl);
      const found = (): Promise<object[]> =>
        database.query(
          `SELECT test, url, round(extract(epoch FROM now() - replaced_at) / 86400)::int AS days
           FROM former_webhook_urls JOIN unnest('{https://a/old,https://a/1,https://a/2,https://a/3,https://a/test}'::text[])
             AS known (url) ON url_digest = sha256(url::bytea)
           WHERE account_id = $1 ORDER BY test, url`,
          [accountId],
        );
      const ofTest = { test: true, url: 'https://a/test', days: 1 };
      const second = { test: false, url: 'https://a/2', days: 1 };
      expect(await found()).toEqual([{ test: false, url: 'https://a/1', days: 2 }, second, ofTest]);
      await database.query(`UPDATE accounts SET default_webhook_url = 'https://a/3', name = 'Other' WHERE id = $1`, [
        accountId,
      ]);
      await database.query(`UPDATE accounts SET name = 'Acme' WHERE id = $1`, [accountId]);
      expect(await found()).toEqual([{ test: false, url: 'https://a/1', days: 0 }, second, ofTest]);
      await database.query('DELETE FROM accounts WHERE id = $1', [accountId]);
    });
  });

  it('goes on from the tables of an earlier release, with what they hold', async () => {
    await migrate(home.ownerUrl);
    const complete = await shape();
    for (let later = MIGRATIONS.length; later > 1; later -= 1) await revertMigration(home.ownerUrl);
    const id = '00000000-0000-0000-0000-000000000001';
    const earlier = await shape();
    await inDatabase(async (database) => {
      await database.query(`INSERT INTO accounts (id, name, webhook_secret_sealed) VALUES ($1, 'Acme', '')`, [id]);
      await database.query(`CREATE TABLE sessions_old PARTITION OF sessions DEFAULT`);
      await database.query(
        `INSERT INTO sessions (id, account_id, brand_id, phone, status, channel, token_digest, client_challenge, brand_slug,
           instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at, expires_at)
         VALUES ($1, $1, $1, '+14155552671', 'pending', 'sms_fallback', '', '', 'ACME', '', '+14155550100', true, '{}', 1,
           clock_timestamp(), clock_timestamp())`,
        [id],
      );
    });
    expect(await migrate(home.ownerUrl)).toEqual(MIGRATIONS.slice(1));
    const [session] = await inDatabase((database) =>
      database.query('SELECT country, test, brand_name, otp_sends FROM sessions WHERE id = $1', [id]),
    );
    expect(session).toEqual({ country: '001', test: false, brand_name: '', otp_sends: 0 });
    await inDatabase((database) => database.query('DROP TABLE sessions_old'));
    expect(await shape()).toEqual(complete);
    expect(earlier).not.toEqual(complete);
  });
});
