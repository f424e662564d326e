import { randomBytes } from 'node:crypto';
import { EventStore, type EventType, type NewEvent } from '@countersign/events';
import { firstIdAt, newId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LOCK_UNDISPATCHED } from '../../libs/events/src/event-store.sql.js';
import { asOwner, freshDatabase, type TestDatabase } from '../support/database.js';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const basicAccount = newId(NOW);
const subscribedAccount = newId(NOW);
const accountWithoutUrl = newId(NOW);
const DEFAULT_URL = 'https://account.example/hook';

const store = new EventStore();
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await freshDatabase();
  database = await Database.open({
    url: home.url,
    poolMax: 6,
    applicationName: 'medium',
    onError: () => undefined,
  });
  await ensurePartitions(database, NOW);
  await database.query(
    `INSERT INTO accounts (id, name, default_webhook_url, webhook_events, webhook_secret_sealed)
     VALUES ($1, 'plain', $4, '{}', ''), ($2, 'curious', $4, '{verification.expired}', ''), ($3, 'silent', NULL, '{}', '')`,
    [basicAccount, subscribedAccount, accountWithoutUrl, DEFAULT_URL],
  );
});
afterAll(async () => {
  await database.close();
  await home.drop();
});
beforeEach(() => asOwner(home, 'TRUNCATE events'));

const event = (over: Partial<NewEvent> = {}): NewEvent => ({
  id: newId(NOW),
  type: 'verification.completed',
  accountId: basicAccount,
  test: false,
  sessionId: newId(NOW),
  occurredAt: new Date(NOW),
  data: '{"b":1,"a":"quote \\" and \\\\ and {comma, brace}","10":null}',
  sessionWebhookUrl: null,
  ...over,
});

const append = (...events: NewEvent[]): Promise<void> => database.transaction((tx) => store.append(tx, events));
const claim = (limit: number) => database.transaction((tx) => store.markUndispatched(tx, limit));

describe('the poll for undispatched events', () => {
  it('reads few pages behind an old snapshot, which keeps the entries of dispatched ones', async () => {
    const dump = new pg.Client({ connectionString: home.ownerUrl });
    await dump.connect();
    await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await dump.query('SELECT FROM events');
    const ids = Array.from({ length: 5_000 }, (_, at) => newId(NOW - 600_000 + at));
    await database.query(
      `INSERT INTO events (id, type, account_id, session_id, data, occurred_at)
       SELECT id, 'verification.completed', id, id, '{}', now() FROM unnest($1::uuid[]) AS id`,
      [ids],
    );
    await database.query('UPDATE events SET dispatched_at = now()');
    const waiting = event();
    await append(waiting);
    const pagesFrom = async (fromMs: number): Promise<number> => {
      const [row] = await database.query<Record<'QUERY PLAN', [{ Plan: Record<string, number> }]>>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${LOCK_UNDISPATCHED}`,
        [250, firstIdAt(fromMs)],
      );
      const { Plan: plan } = row?.['QUERY PLAN'][0] ?? { Plan: {} };
      return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    };
    const [all, recent] = [await pagesFrom(0), await pagesFrom(NOW - 120_000)];
    expect(all).toBeGreaterThan(100);
    expect(recent).toBeLessThan(30);
    await dump.end();
    const found = await database.transaction((tx) => store.markUndispatched(tx, 10, firstIdAt(NOW - 120_000)));
    expect(found.map(({ id }) => id)).toEqual([waiting.id]);
  });
});

describe('an event', () => {
  it('is read as it was written, its text unchanged', async () => {
    const written = event({ type: 'webhook.test', sessionWebhookUrl: 'https://session.example/x?y=,"{}' });
    await append(written);
    const { sessionWebhookUrl, ...rest } = written;
    expect(await claim(10)).toEqual([{ ...rest, webhookUrl: sessionWebhookUrl }]);
  });

  it('is read without data when the data is the Session, or longer than any that is written', async () => {
    await append(event(), event({ type: 'webhook.test', data: JSON.stringify('x'.repeat(65_535)) }));
    const long = event({ type: 'webhook.test', data: JSON.stringify(randomBytes(100_000).toString('hex')) });
    await append(long);
    expect((await claim(10)).map(({ data }) => data)).toEqual([null, null, null]);
    expect((await store.findMany(database, [long.id])).get(long.id)?.data).toBeNull();
  });

  it.each<[string, string, EventType, string | null, string | null]>([
    [
      "has the session's own URL",
      basicAccount,
      'verification.completed',
      'https://own.example/',
      'https://own.example/',
    ],
    ["has the account's default URL without one", basicAccount, 'verification.completed', null, DEFAULT_URL],
    ['has no URL without any', accountWithoutUrl, 'verification.completed', null, null],
    ['has no URL when its type is opt-in', basicAccount, 'verification.expired', 'https://own.example/', null],
    ['has a URL when the account subscribed to its type', subscribedAccount, 'verification.expired', null, DEFAULT_URL],
    ['has no URL when the account subscribed to another type', subscribedAccount, 'verification.denied', null, null],
    ['is stored even when its account is unknown', newId(NOW), 'verification.completed', null, null],
  ])('%s', async (_what, accountId, type, sessionWebhookUrl, webhookUrl) => {
    await append(event({ accountId, type, sessionWebhookUrl }));
    expect(await claim(10)).toMatchObject([{ type, webhookUrl }]);
  });

  it('keeps the URL of its time', async () => {
    await append(event());
    await database.query(`UPDATE accounts SET default_webhook_url = 'https://new.example/' WHERE id = $1`, [
      basicAccount,
    ]);
    expect(await claim(10)).toMatchObject([{ webhookUrl: DEFAULT_URL }]);
    await database.query(`UPDATE accounts SET default_webhook_url = $2 WHERE id = $1`, [basicAccount, DEFAULT_URL]);
  });

  it('is one event even when its statement runs twice', async () => {
    const written = event();
    await append(written, event());
    await append(written);
    expect(await claim(10)).toHaveLength(2);
  });

  it('is not stored when its transaction is rolled back', async () => {
    const failing = database.transaction(async (tx) => {
      await store.append(tx, [event()]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await claim(10)).toEqual([]);
  });
});

describe('events by id', () => {
  it('are read from their rows, with data only where the data is not the session', async () => {
    const [ending, mismatch, other] = [event(), event({ type: 'verification.sender_mismatch', test: true }), event()];
    const ofAccount = event({ type: 'webhook.disabled', sessionId: null });
    await append(ending, mismatch, other, ofAccount);
    const ids = [ending.id, mismatch.id, ofAccount.id, newId(NOW)];
    const found = await store.findMany(database, ids);
    const rowOf = ({ sessionWebhookUrl: _, ...row }: NewEvent) => row;
    expect([...found.keys()].sort()).toEqual(ids.slice(0, 3).sort());
    expect(found.get(ending.id)).toEqual({ ...rowOf(ending), data: null });
    expect([found.get(mismatch.id), found.get(ofAccount.id)]).toEqual([rowOf(mismatch), rowOf(ofAccount)]);
    expect(await store.dataOf(database, ids)).toEqual(new Map([mismatch, ofAccount].map(({ id, data }) => [id, data])));
  });
});

describe('a claim of events', () => {
  it('claims each event once, oldest first, up to the limit', async () => {
    const events = [3, 1, 2].map((days) => event({ id: newId(NOW + days * DAY_MS) }));
    await append(...events);
    const sorted = events.map((each) => each.id).sort();
    expect((await claim(2)).map((each) => each.id)).toEqual(sorted.slice(0, 2));
    expect((await claim(2)).map((each) => each.id)).toEqual(sorted.slice(2));
    expect(await claim(2)).toEqual([]);
  });

  it('is safe with many at once: each event is claimed by one of them, and none waits', async () => {
    const events = Array.from({ length: 200 }, () => event());
    await append(...events);
    const claimed = await Promise.all(Array.from({ length: 6 }, () => claim(40)));
    for (let rest = await claim(40); rest.length > 0; rest = await claim(40)) claimed.push(rest);
    expect(
      claimed
        .flat()
        .map((each) => each.id)
        .sort(),
    ).toEqual(events.map((each) => each.id).sort());
  });

  it('is undone with its transaction, so that another can claim the events', async () => {
    await append(event());
    const failing = database.transaction(async (tx) => {
      expect(await store.markUndispatched(tx, 10)).toHaveLength(1);
      expect(await claim(10)).toEqual([]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await claim(10)).toHaveLength(1);
  });

  it('by id claims undispatched events, and nothing the second time', async () => {
    const [one, other, third] = [event(), event({ id: newId(NOW + DAY_MS) }), event()];
    await append(one, other, third);
    const claimNamed = (...ids: string[]) => database.transaction((tx) => store.markNamed(tx, ids));
    expect((await claimNamed(other.id, one.id, newId(NOW))).map((each) => each.id)).toEqual([one.id, other.id].sort());
    expect(await claimNamed(one.id, other.id)).toEqual([]);
    expect(await claimNamed()).toEqual([]);
    expect((await claim(10)).map((each) => each.id)).toEqual([third.id]);
  });

  it('by id reads only the partitions of those events', async () => {
    const written = event();
    await append(written);
    const locked = await database.transaction(async (tx) => {
      await store.markNamed(tx, [written.id]);
      return tx.query<{ name: string }>(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
         WHERE pid = pg_backend_pid() AND relkind IN ('r', 'p') AND relname ~ '^events'`,
      );
    });
    expect(locked).toHaveLength(2);
  });
});

describe('the age of the oldest undispatched event', () => {
  it('is in seconds, and 0 without such an event', async () => {
    expect(await store.oldestUndispatchedSeconds(database)).toBe(0);
    await append(event({ occurredAt: new Date(Date.now() - 90_000) }), event({ id: newId(NOW + 1_000) }));
    expect(await store.oldestUndispatchedSeconds(database)).toBeGreaterThan(89);
    expect(await store.oldestUndispatchedSeconds(database)).toBeLessThan(120);
    await claim(10);
    expect(await store.oldestUndispatchedSeconds(database)).toBe(0);
  });
});
