import { EventStore, type EventType, type NewEvent } from '@countersign/events';
import { newId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asOwner, freshDatabase, type TestDatabase } from '../support/database.js';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const plain = newId(NOW);
const curious = newId(NOW);
const silent = newId(NOW);
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
    entities: [],
    onError: () => undefined,
  });
  await ensurePartitions(database, NOW);
  await database.query(
    `INSERT INTO accounts (id, name, default_webhook_url, webhook_events, webhook_secret_sealed)
     VALUES ($1, 'plain', $4, '{}', ''), ($2, 'curious', $4, '{verification.expired}', ''), ($3, 'silent', NULL, '{}', '')`,
    [plain, curious, silent, DEFAULT_URL],
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
  accountId: plain,
  test: false,
  sessionId: newId(NOW),
  occurredAt: new Date(NOW),
  data: '{"b":1,"a":"quote \\" and \\\\ and {comma, brace}","10":null}',
  sessionWebhookUrl: null,
  ...over,
});

const append = (...events: NewEvent[]): Promise<void> => database.transaction((tx) => store.append(tx, events));
const take = (limit: number) => database.transaction((tx) => store.markUndispatched(tx, limit));

describe('an event', () => {
  it('comes back as it was written, its text untouched', async () => {
    const written = event({ sessionWebhookUrl: 'https://session.example/x?y=,"{}' });
    await append(written);
    const { sessionWebhookUrl, ...rest } = written;
    expect(await take(10)).toEqual([{ ...rest, webhookUrl: sessionWebhookUrl }]);
  });

  it.each<[string, string, EventType, string | null, string | null]>([
    [
      "is told at the session's own URL",
      plain,
      'verification.completed',
      'https://own.example/',
      'https://own.example/',
    ],
    ["is told at the account's default without one", plain, 'verification.completed', null, DEFAULT_URL],
    ['is told to nobody when there is no URL at all', silent, 'verification.completed', null, null],
    ['is not told unasked when it is opt-in', plain, 'verification.expired', 'https://own.example/', null],
    ['is told when the account asked for its type', curious, 'verification.expired', null, DEFAULT_URL],
    ['is not told when the account asked for another type', curious, 'verification.denied', null, null],
    ['is kept even when its account is unknown', newId(NOW), 'verification.completed', null, null],
  ])('%s', async (_what, accountId, type, sessionWebhookUrl, webhookUrl) => {
    await append(event({ accountId, type, sessionWebhookUrl }));
    expect(await take(10)).toMatchObject([{ type, webhookUrl }]);
  });

  it('keeps the URL it had when it happened', async () => {
    await append(event());
    await database.query(`UPDATE accounts SET default_webhook_url = 'https://new.example/' WHERE id = $1`, [plain]);
    expect(await take(10)).toMatchObject([{ webhookUrl: DEFAULT_URL }]);
    await database.query(`UPDATE accounts SET default_webhook_url = $2 WHERE id = $1`, [plain, DEFAULT_URL]);
  });

  it('is one event, though its statement ran twice', async () => {
    const written = event();
    await append(written, event());
    await append(written);
    expect(await take(10)).toHaveLength(2);
  });

  it('is not there when its transaction was rolled back', async () => {
    const failing = database.transaction(async (tx) => {
      await store.append(tx, [event()]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await take(10)).toEqual([]);
  });
});

describe('taking events', () => {
  it('goes oldest first, up to the limit, each once', async () => {
    const events = [3, 1, 2].map((days) => event({ id: newId(NOW + days * DAY_MS) }));
    await append(...events);
    const sorted = events.map((each) => each.id).sort();
    expect((await take(2)).map((each) => each.id)).toEqual(sorted.slice(0, 2));
    expect((await take(2)).map((each) => each.id)).toEqual(sorted.slice(2));
    expect(await take(2)).toEqual([]);
  });

  it('is shared by many at once: every event to one of them, nobody waits', async () => {
    const events = Array.from({ length: 200 }, () => event());
    await append(...events);
    const taken = await Promise.all(Array.from({ length: 6 }, () => take(40)));
    for (let rest = await take(40); rest.length > 0; rest = await take(40)) taken.push(rest);
    expect(
      taken
        .flat()
        .map((each) => each.id)
        .sort(),
    ).toEqual(events.map((each) => each.id).sort());
  });

  it('is undone with its transaction, for another to take', async () => {
    await append(event());
    const failing = database.transaction(async (tx) => {
      expect(await store.markUndispatched(tx, 10)).toHaveLength(1);
      expect(await take(10)).toEqual([]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await take(10)).toHaveLength(1);
  });

  it('by name gives those that nobody has taken, and does nothing the second time', async () => {
    const [one, other, third] = [event(), event({ id: newId(NOW + DAY_MS) }), event()];
    await append(one, other, third);
    const named = (...ids: string[]) => database.transaction((tx) => store.markNamed(tx, ids));
    expect((await named(other.id, one.id, newId(NOW))).map((each) => each.id)).toEqual([one.id, other.id].sort());
    expect(await named(one.id, other.id)).toEqual([]);
    expect(await named()).toEqual([]);
    expect((await take(10)).map((each) => each.id)).toEqual([third.id]);
  });

  it('by name touches the partitions of those events and no other', async () => {
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

describe('the oldest event that nobody has taken', () => {
  it('is so many seconds old, and none is 0', async () => {
    expect(await store.oldestUndispatchedSeconds(database)).toBe(0);
    await append(event({ occurredAt: new Date(Date.now() - 90_000) }), event({ id: newId(NOW + 1_000) }));
    expect(await store.oldestUndispatchedSeconds(database)).toBeGreaterThan(89);
    expect(await store.oldestUndispatchedSeconds(database)).toBeLessThan(120);
    await take(10);
    expect(await store.oldestUndispatchedSeconds(database)).toBe(0);
  });
});
