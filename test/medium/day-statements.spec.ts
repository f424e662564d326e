import { idBounds, type Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as deliveryStatements from '../../apps/control-plane/src/webhooks/deliveries.sql.js';
import * as eventStatements from '../../libs/events/src/event-store.sql.js';
import { isOnDays } from '../../libs/postgres/src/day-statements.js';
import * as sessionStatements from '../../libs/session/src/session.sql.js';
import { asOwner } from '../support/database.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

const { FIND_SESSIONS, LOCK_SESSIONS } = sessionStatements;
/** More than a partition has that counts as small. */
const ROWS = 6_000;
/** PostgreSQL plans a statement five times before it considers a plan for any parameters. */
const RUNS = 8;

let harness: SessionHarness;
let ids: Uuid[] = [];
let partition = '';

const opened: Database[] = [];

/** Of one connection, so that its statements are seen. */
async function open(url: string): Promise<Database> {
  const database = await Database.open({ url, poolMax: 1, applicationName: 'medium', onError: () => undefined });
  opened.push(database);
  return database;
}

const find = (on: Executor, text = FIND_SESSIONS): Promise<{ id: Uuid }[]> => {
  const { low, high } = idBounds(ids);
  return on.query<{ id: Uuid }>(text, [ids, low, high]);
};

interface Kept {
  readonly text: string;
  readonly generic: number;
  readonly custom: number;
}

/** The statements on today's sessions that the connection keeps. */
const kept = (on: Executor): Promise<Kept[]> =>
  on.query<Kept>(
    `SELECT statement AS text, generic_plans::int AS generic, custom_plans::int AS custom
     FROM pg_prepared_statements WHERE strpos(statement, $1) > 0
       AND name LIKE 'cs_%'`,
    [`${partition} AS sessions`],
  );

/** A partition is looked up in the background, at most every 15 s. */
const untilKept = (database: Database): Promise<void> =>
  until('the statement is kept', 20_000, async () => {
    await find(database);
    return (await kept(database)).length === 1;
  });

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 10 });
  const first = await harness.sessions.create(harness.draft());
  const [row] = await harness.database.query<{ name: string }>(
    'SELECT tableoid::regclass::text AS name FROM sessions WHERE id = $1',
    [first.id],
  );
  partition = row?.name ?? '';
  ids = [first.id];
});
afterAll(async () => {
  await Promise.all(opened.map((database) => database.close()));
  await harness.close();
});

describe('a statement on rows of today', () => {
  it('is not kept while their partition is small', async () => {
    const database = await open(harness.url);
    for (let run = 0; run < RUNS; run += 1) expect(await find(database)).toHaveLength(1);
    expect(await kept(database)).toEqual([]);
  });

  it('is kept for their partition once it is large, planned no more after some runs, and locks it alone', async () => {
    for (let made = 0; made < ROWS; made += 1_000) {
      const sessions = await Promise.all(Array.from({ length: 1_000 }, () => harness.sessions.create(harness.draft())));
      ids = sessions.slice(0, 64).map(({ id }) => id);
    }
    await asOwner(harness, 'ANALYZE sessions');
    const database = await open(harness.url);
    await untilKept(database);
    const locked = await database.transaction(async (tx) => {
      for (let run = 0; run < RUNS; run += 1) expect(await find(tx)).toHaveLength(ids.length);
      return tx.query<{ name: string }>(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
         WHERE pid = pg_backend_pid() AND relname LIKE 'sessions%' AND relkind IN ('r', 'p')`,
      );
    });
    expect(locked).toEqual([{ name: partition }]);
    const [statement] = await kept(database);
    expect(statement?.generic).toBeGreaterThan(0);
  });

  it.each([
    ['sessions', sessionStatements, `UPDATE sessions SET status = 'cancelled', ended_at = now()`, 11],
    [
      'events',
      eventStatements,
      `INSERT INTO events (id, type, account_id, session_id, occurred_at, data, test, dispatched_at)
       SELECT id, 'verification.cancelled', account_id, id, created_at, '{}', test, now() FROM sessions`,
      4,
    ],
    [
      'deliveries',
      deliveryStatements,
      `INSERT INTO deliveries (id, account_id, session_id, type, url, occurred_at, test, status, ended_at)
       SELECT id, account_id, id, 'verification.cancelled', 'https://a.example', created_at, test, 'succeeded', now()
       FROM sessions`,
      3,
    ],
  ])(
    'finds %s by id or token, not by an index that is empty when the plan is made',
    async (table, texts, end, count) => {
      await asOwner(harness, end);
      await asOwner(harness, `VACUUM ANALYZE ${table}`);
      const named = new RegExp(String.raw`\b(FROM|UPDATE|JOIN) ${table}\b`, 'g');
      const day = partition.replace('sessions', table);
      const onDay = Object.values<unknown>(texts).filter(
        (text) => typeof text === 'string' && isOnDays(text),
      ) as string[];
      expect(onDay).toHaveLength(count);
      const database = await open(harness.ownerUrl);
      for (const text of onDay) {
        const onPartition = text.replaceAll(named, `$1 ${day} AS ${table}`);
        const lines = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${onPartition}`);
        const scans = lines
          .map((line) => line['QUERY PLAN'])
          .filter((line) => line.includes(day) && / Scan /.test(line));
        expect(scans.length).toBeGreaterThan(0);
        for (const scan of scans) expect(scan).toMatch(/Index Scan using \w+_(pkey|token_digest) /);
      }
    },
  );

  it("is kept by connections of the gateways' role too", async () => {
    const database = await open(harness.gatewayUrl);
    await untilKept(database);
    expect(await find(database, LOCK_SESSIONS)).toHaveLength(ids.length);
  });

  it('reads the table where the role has no rights on the partition', async () => {
    const role = new URL(harness.url).username;
    await asOwner(harness, `REVOKE SELECT ON ${partition} FROM ${role}`);
    const database = await open(harness.url);
    // The partition is looked up in the background: the statement that names it follows.
    for (let run = 0; run < RUNS; run += 1) expect(await find(database)).toHaveLength(ids.length);
    await database.transaction(async (tx) => expect(await find(tx)).toHaveLength(ids.length));
    // It was refused once.
    expect(await kept(database)).toMatchObject([{ generic: 0, custom: 1 }]);
    await asOwner(harness, `GRANT SELECT ON ${partition} TO ${role}`);
  });
});
