import { firstIdAt, idBounds, newId } from '@countersign/ids';
import { Database, type Executor, RowLease } from '@countersign/postgres';
import {
  dropOldPartitions,
  ensurePartitions,
  partitionDaysAhead,
  PartitionMaintainer,
} from '@countersign/postgres/partitions';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2025, 10, 21, 12);
const TABLES = ['card_events', 'cards', 'deliveries', 'events', 'messages', 'outbound_messages', 'sessions'];

const PARTITIONS = `
  SELECT parent.relname AS "table", child.relname AS name
  FROM pg_inherits JOIN pg_class parent ON parent.oid = inhparent JOIN pg_class child ON child.oid = inhrelid
  WHERE parent.relkind = 'p' ORDER BY child.relname`;
const INSERT_EVENT = `
  INSERT INTO events (id, type, account_id, session_id, data, occurred_at)
  VALUES ($1, 'verification.completed', $1, $1, '{}', to_timestamp(0))`;

let home: TestDatabase;
let database: Database;

const open = (): Promise<Database> =>
  Database.open({ url: home.ownerUrl, poolMax: 6, applicationName: 'medium', onError: () => undefined });

const partitions = async (table: string): Promise<string[]> =>
  (await database.query<{ table: string; name: string }>(PARTITIONS))
    .filter((row) => row.table === table)
    .map((row) => row.name);

describe('partitions', () => {
  beforeEach(async () => {
    home = await freshDatabase();
    database = await open();
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  it('are made for yesterday, today and seven days ahead', async () => {
    await ensurePartitions(database, NOW);
    const days = ['20', '21', '22', '23', '24', '25', '26', '27', '28'];
    for (const table of TABLES) expect(await partitions(table)).toEqual(days.map((day) => `${table}_p202511${day}`));
    await database.query(INSERT_EVENT, [newId(NOW + 7 * DAY_MS)]);
    await expect(database.query(INSERT_EVENT, [newId(NOW + 8 * DAY_MS)])).rejects.toThrow('no partition');
  });

  it('have the checks and exactly the indexes of their table, sessions a unique one on the digest too', async () => {
    await ensurePartitions(database, NOW);
    const count = async (name: string): Promise<number[]> => {
      const [row] = await database.query<{ indexes: number; checks: number }>(
        `SELECT (SELECT count(*)::int FROM pg_index WHERE indrelid = $1::regclass) AS indexes,
           (SELECT count(*)::int FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c') AS checks`,
        [name],
      );
      return [row?.indexes ?? 0, row?.checks ?? 0];
    };
    for (const table of TABLES) {
      const [indexes = 0, checks = 0] = await count(table);
      expect(await count(`${table}_p20251121`)).toEqual([table === 'sessions' ? indexes + 1 : indexes, checks]);
    }
    const [digest] = await database.query<{ unique: boolean }>(
      `SELECT indisunique AS "unique" FROM pg_index WHERE indexrelid = 'sessions_p20251121_token_digest'::regclass`,
    );
    expect(digest).toEqual({ unique: true });
  });

  it('are counted in days ahead', async () => {
    expect(await partitionDaysAhead(database, NOW)).toBe(-1);
    await ensurePartitions(database, NOW);
    const ahead = await Promise.all([0, 5, 7, 8].map((days) => partitionDaysAhead(database, NOW + days * DAY_MS)));
    expect(ahead).toEqual([7, 2, 0, -1]);
  });

  it('are made once when several processes boot at once', async () => {
    const others = await Promise.all(Array.from({ length: 3 }, open));
    await Promise.all([database, ...others].map((each) => ensurePartitions(each, NOW)));
    await Promise.all(others.map((each) => each.close()));
    for (const table of TABLES) expect(await partitions(table)).toHaveLength(9);
  });

  it('are made while inserts of today are open, without waiting for them or holding them up', async () => {
    await ensurePartitions(database, NOW);
    await database.transaction(async (tx) => {
      await tx.query(INSERT_EVENT, [newId(NOW)]);
      await ensurePartitions(database, NOW + DAY_MS);
      await tx.query(INSERT_EVENT, [newId(NOW)]);
    });
    expect(await partitions('events')).toContain('events_p20251129');
  });

  it('are waited for while another holds the lease, and made when its lease has run out', async () => {
    const dead = new RowLease(database, 'partitions', newId(NOW), 300);
    expect(await dead.acquire()).toBe(true);
    await ensurePartitions(database, NOW);
    expect(await partitions('events')).toHaveLength(9);
  });

  it('are dropped when all of them is past retention, and no sooner', async () => {
    await ensurePartitions(database, NOW);
    const at = (days: number): number => Date.UTC(2025, 10, 21) + days * DAY_MS;
    expect(await dropOldPartitions(database, at(30) - 1, 30)).toEqual([]);
    expect((await dropOldPartitions(database, at(30), 30)).sort()).toEqual(TABLES.map((table) => `${table}_p20251120`));
    expect(await partitions('events')).toHaveLength(8);
    expect(await dropOldPartitions(database, at(30), 30)).toEqual([]);
  });

  it('of young days outlast a clock that jumps ahead, which retention follows by a day an hour', async () => {
    await ensurePartitions(database, NOW);
    await dropOldPartitions(database, NOW, 30);
    const ahead = NOW + 33 * DAY_MS;
    await ensurePartitions(database, ahead);
    expect(await dropOldPartitions(database, ahead, 30)).toEqual([]);
    expect(await dropOldPartitions(database, ahead + 60_000, 30)).toEqual([]);
    expect(await partitions('sessions')).toHaveLength(18);
    const [clock] = await database.query<{ at: Date }>('SELECT at FROM retention_clock');
    expect(clock?.at).toEqual(new Date(NOW + DAY_MS + 60_000));
    await dropOldPartitions(database, ahead + 3_600_000, 30);
    expect(await database.query('SELECT at FROM retention_clock')).toEqual([
      { at: new Date(NOW + 2 * DAY_MS + 60_000) },
    ]);
    await dropOldPartitions(database, NOW + 60_000, 30);
    expect(await database.query('SELECT at FROM retention_clock')).toEqual([{ at: new Date(NOW + 60_000) }]);
  });

  it('with work that is not finished are kept, with all of their day, and reported', async () => {
    await ensurePartitions(database, NOW);
    await database.query(INSERT_EVENT, [newId(NOW - DAY_MS)]);
    const later = Date.UTC(2025, 10, 21) + 30 * DAY_MS;
    await expect(dropOldPartitions(database, later, 30)).rejects.toThrow(
      'data of 2025-11-20 is kept beyond retention: undispatched events',
    );
    for (const table of TABLES) expect(await partitions(table)).toHaveLength(9);
    await database.query('UPDATE events SET dispatched_at = now()');
    expect(await dropOldPartitions(database, later, 30)).toHaveLength(TABLES.length);
  });

  it('with webhooks are kept until their schedules have ended, but not for retries that were requested after that', async () => {
    await ensurePartitions(database, NOW);
    const later = Date.UTC(2025, 10, 21) + 30 * DAY_MS;
    const id = newId(NOW - DAY_MS);
    await database.query(
      `INSERT INTO deliveries (id, account_id, type, url, occurred_at, next_attempt_at, retry_asked, schedule_resumes_at)
       VALUES ($1, $1, 'webhook.test', 'https://example.com', now(), now(), true, now())`,
      [id],
    );
    const kept = 'data of 2025-11-20 is kept beyond retention: pending webhooks';
    await expect(dropOldPartitions(database, later, 30)).rejects.toThrow(kept);
    await database.query('UPDATE deliveries SET retry_asked = false, schedule_resumes_at = NULL');
    await expect(dropOldPartitions(database, later, 30)).rejects.toThrow(kept);
    await database.query('UPDATE deliveries SET retry_asked = true');
    expect(await dropOldPartitions(database, later, 30)).toHaveLength(TABLES.length);
  });

  it('are dropped by no maintainer whose clock differs from that of the database', async () => {
    await ensurePartitions(database, NOW);
    const errors: unknown[] = [];
    const clock = { nowMs: () => NOW + 31 * DAY_MS, driftMs: 6_000 };
    const onError = (error: unknown): void => void errors.push(error);
    const maintainer = new PartitionMaintainer({ database, clock, retentionDays: 30, onError });
    await expect(database.query(INSERT_EVENT, [newId(NOW + 20 * DAY_MS)])).rejects.toSatisfy(
      (error: Error) => error.constructor.name === 'MissingPartition',
    );
    await until('the maintainer has run', 10_000, () => errors.length > 0);
    await maintainer.stop();
    expect(String(errors[0])).toContain('no data is dropped');
    expect(await partitions('events')).toContain('events_p20251120');
  });

  it('are made as soon as a row has none, and the row can be written later', async () => {
    const maintainer = new PartitionMaintainer({
      database,
      clock: { nowMs: () => NOW, driftMs: 0 },
      retentionDays: null,
      onError: () => undefined,
    });
    await expect(database.query(INSERT_EVENT, [newId(NOW)])).rejects.toSatisfy(
      (error: Error) => error.constructor.name === 'MissingPartition',
    );
    await until('the partition was made', 10_000, () =>
      database.query(INSERT_EVENT, [newId(NOW)]).then(
        () => true,
        () => false,
      ),
    );
    await maintainer.stop();
  });

  it('whose dropping was cut short are dropped the next time', async () => {
    await ensurePartitions(database, NOW);
    await database.query('ALTER TABLE events DETACH PARTITION events_p20251120');
    // Detaching waits for a transaction that still sees the partition, and its time runs out.
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM sessions');
      const client = new pg.Client({ connectionString: home.ownerUrl, statement_timeout: 200 });
      await client.connect();
      const detaching = client.query('ALTER TABLE sessions DETACH PARTITION sessions_p20251121 CONCURRENTLY');
      await expect(detaching).rejects.toThrow('statement timeout');
      await client.end();
    });
    const dropped = await dropOldPartitions(database, NOW + 31 * DAY_MS, 30);
    expect(dropped).toEqual(expect.arrayContaining(['events_p20251120', 'sessions_p20251121']));
    expect(dropped).toHaveLength(TABLES.length * 2);
  });

  it('are left alone while another process is at it', async () => {
    await ensurePartitions(database, NOW);
    await new RowLease(database, 'partitions', newId(NOW), 10_000).acquire();
    expect(await dropOldPartitions(database, NOW + 31 * DAY_MS, 30)).toEqual([]);
  });
});

describe('a lease', () => {
  beforeAll(async () => {
    home = await freshDatabase();
    database = await open();
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });

  it('belongs to one owner, who may renew it, until it is given back', async () => {
    const one = new RowLease(database, 'work', newId(NOW), 60_000);
    const other = new RowLease(database, 'work', newId(NOW), 60_000);
    expect([await one.acquire(), await other.acquire(), await one.acquire()]).toEqual([true, false, true]);
    await other.release();
    expect(await other.acquire()).toBe(false);
    await one.release();
    expect(await other.acquire()).toBe(true);
  });

  it('counts as expired when it ends later than any owner sets it', async () => {
    const [one, other] = [
      new RowLease(database, 'far', newId(NOW), 60_000),
      new RowLease(database, 'far', newId(NOW), 60_000),
    ];
    await one.acquire();
    for (const [end, isAcquired] of [
      [`clock_timestamp() + interval '61 seconds'`, false],
      [`clock_timestamp() + interval '121 seconds'`, true],
      [`'infinity'`, true],
    ] as const) {
      await database.query(`UPDATE row_leases SET expires_at = ${end}, owner = $1 WHERE name = 'far'`, [newId(NOW)]);
      expect(await other.acquire()).toBe(isAcquired);
    }
  });

  it('is won by one of many who ask at once', async () => {
    const asked = Array.from({ length: 20 }, () => new RowLease(database, 'race', newId(NOW), 60_000).acquire());
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
  });
});

/** Tables and partitions (not indexes) that this transaction has locked, of one partitioned table. */
const LOCKED = `
  SELECT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
  WHERE pid = pg_backend_pid() AND relkind IN ('r', 'p') AND relname ~ '^events' ORDER BY relname`;

describe('a statement over a table of many days', () => {
  beforeAll(async () => {
    home = await freshDatabase();
    database = await open();
    for (let days = -29; days <= 0; days += 8) await ensurePartitions(database, NOW + days * DAY_MS);
    await ensurePartitions(database, NOW);
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });

  /** Runs it often enough that a server which may choose a generic plan would have done so. */
  const locksOf = (text: string, values: readonly unknown[]): Promise<string[]> =>
    database.transaction(async (tx: Executor) => {
      for (let count = 0; count < 8; count++) await tx.query(text, values);
      return (await tx.query<{ name: string }>(LOCKED)).map((row) => row.name);
    });

  const ids = [newId(NOW - 3 * DAY_MS), newId(NOW - 2 * DAY_MS)];
  const { low, high } = idBounds(ids);

  it('has many partitions to choose from', async () => {
    expect((await partitions('events')).length).toBeGreaterThanOrEqual(37);
  });

  it('touches one partition for an exact id', async () => {
    const named = ['events', 'events_p20251119'];
    const id = newId(NOW - 2 * DAY_MS);
    expect(await locksOf('SELECT type FROM events WHERE id = $1', [id])).toEqual(named);
    expect(await locksOf('UPDATE events SET dispatched_at = now() WHERE id = $1', [id])).toEqual(named);
    expect(await locksOf('SELECT type FROM events WHERE id = $1 FOR UPDATE', [id])).toEqual(named);
  });

  it('touches the partitions of its id bounds for a set of ids', async () => {
    const named = ['events', 'events_p20251118', 'events_p20251119'];
    const update = `
      WITH given AS (SELECT * FROM unnest($1::uuid[]) AS id)
      UPDATE events SET dispatched_at = now() FROM given
      WHERE events.id = given.id AND events.id >= $2 AND events.id <= $3`;
    expect(await locksOf(update, [ids, low, high])).toEqual(named);
    expect(
      await locksOf('SELECT type FROM events WHERE id = ANY ($1) AND id >= $2 AND id <= $3', [ids, low, high]),
    ).toEqual(named);
  });

  it('touches the partitions of a set of ids without their bounds, too', async () => {
    const named = ['events', 'events_p20251118', 'events_p20251119'];
    const update = `
      UPDATE events SET dispatched_at = given.at FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, at)
      WHERE events.id = given.id AND events.id = ANY ($1::uuid[])`;
    expect(await locksOf(update, [ids, ids.map(() => new Date(NOW))])).toEqual(named);
    expect(await locksOf('SELECT type FROM events WHERE id = ANY ($1::uuid[])', [ids])).toEqual(named);
  });

  it('touches two days for what happened in the last 24 hours', async () => {
    const text = 'SELECT type FROM events WHERE session_id = $1 AND id >= $2 AND id < $3';
    expect(await locksOf(text, [low, firstIdAt(NOW - DAY_MS), firstIdAt(NOW + 60_000)])).toEqual([
      'events',
      'events_p20251120',
      'events_p20251121',
    ]);
  });

  it('touches one partition for an insert', async () => {
    expect(await locksOf(`${INSERT_EVENT} ON CONFLICT (id) DO NOTHING`, [newId(NOW)])).toEqual([
      'events',
      'events_p20251121',
    ]);
  });

  it('touches them all without a bound', async () => {
    const text = 'SELECT e.type FROM events e JOIN unnest($1::uuid[]) AS given (id) ON e.id = given.id';
    expect((await locksOf(text, [ids])).length).toBeGreaterThan(37);
  });
});

describe('a day that was never analyzed', () => {
  beforeAll(async () => {
    home = await freshDatabase();
    database = await open();
    await ensurePartitions(database, NOW);
    await database.query(`ALTER TABLE sessions_p20251121 SET (autovacuum_enabled = false)`);
    await database.query(
      `INSERT INTO sessions (id, account_id, brand_id, phone, country, status, channel, token_digest, client_challenge,
         brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at,
         expires_at)
       SELECT id, id, id, '+14155550100', 'US', 'pending', 'sms_fallback', sha256(id::text::bytea), repeat('a', 64),
         'ACME', 'Acme', '', '+14155550199', true, '{}', 1, now(), now() FROM unnest($1::uuid[]) AS id`,
      [many],
    );
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });

  const many = Array.from({ length: 30_000 }, (_, n) => newId(NOW + n * 10));
  const some = many.slice(1_000, 1_064);
  const { low, high } = idBounds(many);

  const planOf = async (text: string, values: readonly unknown[]): Promise<string> =>
    (await database.query<Record<'QUERY PLAN', string>>(`EXPLAIN ${text}`, values))
      .map((row) => row['QUERY PLAN'])
      .join('\n');

  it('is searched for token digests by their index, in the partitions of its bounds alone', async () => {
    const plan = await planOf(
      `SELECT id FROM sessions
       WHERE token_digest = ANY ($1::bytea[]) AND id >= $2 AND id < ANY (ARRAY[$3::uuid]) ORDER BY id FOR UPDATE`,
      [some.map(() => Buffer.alloc(32)), firstIdAt(NOW - DAY_MS), firstIdAt(NOW + 300_000)],
    );
    expect(plan).toMatch(/sessions_p20251121_token_digest/);
    expect(plan).toMatch(/sessions_p20251120/);
    expect(plan).not.toMatch(/Seq Scan on sessions_p20251121|sessions_p20251122/);
  });

  it('is written by exact ids, though rows come with them and lie far apart', async () => {
    const plan = await planOf(
      `UPDATE sessions SET sender_mismatch_at = given.at FROM unnest($1::uuid[], $2::timestamptz[]) AS given (id, at)
       WHERE sessions.id = given.id AND sessions.id = ANY ($1::uuid[]) AND sessions.id BETWEEN $3 AND $4
         AND sessions.status = 'pending'`,
      [some, some.map(() => new Date(NOW)), low, high],
    );
    expect(plan).toMatch(/Index Cond: \(\(?id = ANY/);
    expect(plan).not.toMatch(/Seq Scan|sessions_p\d+_expires_at/);
  });
});
