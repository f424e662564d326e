import { AccountStore } from '@countersign/accounts/accounts';
import { parseId, renderId } from '@countersign/ids';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { type Dial, type RealtimeClient, RealtimeClients, type Said } from '../support/realtime-client.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 20_000;

let harness: ControlPlaneHarness;
let channel: string;
/** Its transactions last as long as a test holds them. */
let owner: pg.Client;
const clients = new RealtimeClients();

async function connectedOwner(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: harness.home.ownerUrl });
  await client.connect();
  return client;
}

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  owner = await connectedOwner();
  channel = `account:${harness.demo.accountId}`;
});
afterEach(() => clients.closeAll());
afterAll(async () => {
  await owner.end();
  await harness.close();
});

const connect = (dial: Dial = {}): Promise<RealtimeClient> => clients.connect(harness, dial);
const resume = (client: RealtimeClient, resumeAfter: unknown): Promise<Said> =>
  client.ask({ type: 'subscribe', id: 'r', channel, resumeAfter });
const idsOf = (events: readonly Said[]): unknown[] => events.map(({ id }) => id);

/** Cancels `count` new sessions, one after another; the session of each event, as the client heard them. */
async function cancelSessions(client: RealtimeClient, count: number, key = harness.demo.apiKey): Promise<Said[]> {
  const before = client.events().length;
  for (let at = 1; at <= count; at += 1) {
    const id = String((await harness.create({}, { key })).json['id']);
    expect((await harness.call(`/v1/verify/${id}`, { method: 'DELETE', key })).status).toBe(204);
    await until('the event has arrived', PATIENCE_MS, () => client.events().length >= before + at);
  }
  return client.events().slice(before);
}

/** A copy of an event, dispatched by a server whose connection to the bus is broken; its id. */
async function dispatchUnheard(event: Said | undefined, db: Pick<pg.Client, 'query'> = owner): Promise<string> {
  const id = harness.clock.newId();
  await db.query(
    `INSERT INTO events (id, type, account_id, test, session_id, data, occurred_at, dispatched_at, dispatch_xid, dispatch_xmin)
     SELECT $1, type, account_id, test, session_id, data, occurred_at, date_trunc('milliseconds', clock_timestamp()),
       pg_current_xact_id(), pg_snapshot_xmin(pg_current_snapshot())
     FROM events WHERE id = $2`,
    [id, parseId('evt', String(event?.['id']))],
  );
  return renderId('evt', id);
}

describe('the channel of an account', () => {
  it('has an event whose broadcast was lost, and every event once', async () => {
    const client = await connect();
    await client.subscribe(channel);
    const [event] = await cancelSessions(client, 1);
    const lost = await dispatchUnheard(event);
    await until('the lost event has arrived', PATIENCE_MS, () => client.events().length === 2);
    const [later] = await cancelSessions(client, 1);
    expect(idsOf(client.events())).toEqual([event?.['id'], lost, later?.['id']]);
  });

  it('has an event whose dispatch commits after a later one was read', async () => {
    const client = await connect();
    await client.subscribe(channel);
    const [event] = await cancelSessions(client, 1);
    await owner.query('BEGIN');
    const held = await dispatchUnheard(event);
    const other = await connectedOwner();
    const later = await dispatchUnheard(event, other);
    await other.end();
    await until('the later event has arrived', PATIENCE_MS, () => client.events().length === 2);
    await owner.query('COMMIT');
    await until('the other has arrived', PATIENCE_MS, () => client.events().length === 3);
    expect(idsOf(client.events())).toEqual([event?.['id'], later, held]);
  });
});

describe('a subscribe that resumes', () => {
  it('repeats the events dispatched after that one, in order and as they were sent, then sends new ones', async () => {
    const first = await connect();
    await first.subscribe(channel);
    const events = await cancelSessions(first, 4);
    const second = await connect();
    expect(await resume(second, events[1]?.['id'])).toEqual({ type: 'subscribed', id: 'r', channel, snapshot: null });
    await second.quiet(() => second.events().length >= 2);
    expect(second.events()).toEqual(events.slice(2));
    const [later] = await cancelSessions(first, 1);
    await until('the new event follows', PATIENCE_MS, () => second.events().length === 3);
    expect(second.events().at(-1)).toEqual(later);
  });

  it('after the last event that arrived misses none whose broadcast was lost before it', async () => {
    const first = await connect();
    await first.subscribe(channel);
    const [event] = await cancelSessions(first, 1);
    const lost = await dispatchUnheard(event);
    await cancelSessions(first, 1);
    first.close();
    const second = await connect();
    await resume(second, first.events().at(-1)?.['id']);
    await second.ask({ type: 'ping', id: 'p' });
    expect(idsOf([...first.events(), ...second.events()])).toContain(lost);
  });

  it('repeats nothing after the last event', async () => {
    const client = await connect();
    await client.subscribe(channel);
    const [event] = await cancelSessions(client, 1);
    const second = await connect();
    await resume(second, event?.['id']);
    await second.ask({ type: 'ping', id: 'p' });
    expect(second.events()).toEqual([]);
  });

  it('misses no event that is dispatched meanwhile, and repeats those of every kind', async () => {
    const first = await connect();
    await first.subscribe(channel);
    const [start] = await cancelSessions(first, 1);
    const ids = await Promise.all(Array.from({ length: 12 }, async () => String((await harness.create()).json['id'])));
    const running = ids.map((id) => harness.call(`/v1/verify/${id}`, { method: 'DELETE' }));
    const later: RealtimeClient[] = [];
    for (let at = 0; at < 4; at += 1) {
      const client = await connect();
      await resume(client, start?.['id']);
      later.push(client);
    }
    await Promise.all(running);
    await harness.mismatch(String((await harness.create()).json['id']));
    await until('the first has all', PATIENCE_MS, () => first.events().length === 14);
    const expected = idsOf(first.events()).slice(1).sort();
    for (const client of later)
      await client.quiet(() => [...new Set(idsOf(client.events()))].sort().join() === expected.join());
    const last = await connect();
    await resume(last, start?.['id']);
    await last.quiet(() => last.events('verification.sender_mismatch').length === 1);
    expect(idsOf(last.events()).sort()).toEqual(expected);
  });

  it.each([
    ['an unknown event', 'evt_01HF7YAT000000000000000009'],
    ['no id of an event', 'sess_01HF7YAT000000000000000009'],
    ['an empty text', ''],
  ])('starts anew for %s', async (_what, resumeAfter) => {
    const client = await connect();
    expect(await resume(client, resumeAfter)).toMatchObject({ type: 'error', error: { code: 'RESUME_TOO_OLD' } });
    expect(await client.next('subscribed')).toEqual({ type: 'subscribed', id: 'r', channel, snapshot: null });
    await cancelSessions(client, 1);
    expect(client.events()).toHaveLength(1);
  });

  it('starts anew after an event of another mode, of another account, and of more than 10 minutes ago', async () => {
    const live = await connect();
    await live.subscribe(channel);
    const [ofLive] = await cancelSessions(live, 2);
    const test = await connect({ key: harness.demo.testApiKey });
    expect(await resume(test, ofLive?.['id'])).toMatchObject({ error: { code: 'RESUME_TOO_OLD' } });
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
    const { key } = await accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'k' });
    const other = await connect({ key });
    const request = {
      type: 'subscribe',
      id: 'r',
      channel: `account:${renderId('acct', account.id)}`,
      resumeAfter: ofLive?.['id'],
    };
    expect(await other.ask(request)).toMatchObject({ error: { code: 'RESUME_TOO_OLD' } });
    const uuid = parseId('evt', String(ofLive?.['id']));
    await harness.database.query(
      `UPDATE events SET dispatched_at = dispatched_at - interval '11 minutes' WHERE id = $1`,
      [uuid],
    );
    const late = await connect();
    expect(await resume(late, ofLive?.['id'])).toMatchObject({ error: { code: 'RESUME_TOO_OLD' } });
    for (const client of [test, other, late]) {
      await client.ask({ type: 'ping', id: 'p' });
      expect(client.events()).toEqual([]);
    }
  });

  it('is for 1,000 events at most', async () => {
    const client = await connect();
    await client.subscribe(channel);
    const [event] = await cancelSessions(client, 1);
    const uuid = parseId('evt', String(event?.['id']));
    const session = parseId('sess', String(event?.data?.['id']));
    await harness.database.query(
      `INSERT INTO events (id, type, account_id, test, session_id, occurred_at, data, dispatched_at)
       SELECT overlay($1::text placing lpad(to_hex(n), 6, '0') from 31)::uuid, 'verification.cancelled', account_id, test,
         session_id, occurred_at, data, dispatched_at + interval '1 millisecond'
       FROM events, generate_series(1, 1000) n WHERE id = $1::uuid AND session_id = $2`,
      [uuid, session],
    );
    const full = await connect();
    await resume(full, event?.['id']);
    await until('all are repeated', PATIENCE_MS, () => full.events().length === 1_000);
    await cancelSessions(client, 1);
    const over = await connect();
    expect(await resume(over, event?.['id'])).toMatchObject({ error: { code: 'RESUME_TOO_OLD' } });
  });

  it('with the scope realtime alone reads sessions as a ticket holder does', async () => {
    const first = await connect();
    await first.subscribe(channel);
    const [start] = await cancelSessions(first, 2);
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const accountId = parseId('acct', harness.demo.accountId) ?? '';
    const { key } = await accounts.createApiKey(harness.database, {
      ...{ accountId, kind: 'live', name: 'realtime', scopes: ['realtime'] },
    });
    const client = await connect({ key });
    await resume(client, start?.['id']);
    const { data } = await client.event('verification.cancelled');
    expect(data).not.toHaveProperty('phone');
    expect(data).not.toHaveProperty('metadata');
  });

  it('refuses what is no text', async () => {
    const client = await connect();
    expect(await resume(client, 7)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
  });
});
