import { AccountStore, type KeyLimits } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { RealtimeClient, RealtimeClients, type Dial, type Said } from '../support/realtime-client.js';

const EVIL = { origin: 'https://evil.example', cookie: 'session=of-the-victim' };

let harness: ControlPlaneHarness;
const clients = new RealtimeClients();

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterEach(() => clients.closeAll());
afterAll(() => harness.close());

const connect = (dial: Dial = {}): Promise<RealtimeClient> => clients.connect(harness, dial);

/** A key of the demo account with limits of its own. */
async function keyWith(limits: KeyLimits): Promise<string> {
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  return (await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'limited', limits })).key;
}
const created = async (): Promise<string> => String((await harness.create()).json['id']);
const ticketFor = async (id: string): Promise<string> =>
  String((await harness.call(`/v1/verify/${id}/realtime-ticket`, { method: 'POST' })).json['ticket']);

describe('A21 taking over a WebSocket', () => {
  it('A21 a page of another site is not authenticated by a cookie or an origin: without a ticket it receives nothing', async () => {
    const id = await created();
    const page = await connect({ key: null, headers: EVIL });
    expect(page.said[0]).toMatchObject({ type: 'welcome', authenticated: false });
    expect((await page.subscribe(`session:${id}`)).error).toMatchObject({ code: 'UNAUTHORIZED' });
    await harness.approve(id);
    expect(await page.end()).toBe(4408);
    expect(page.events()).toEqual([]);
    expect(JSON.stringify(page.said)).not.toContain('approved');
  });

  it('A21 a key or a ticket in the URL, in a cookie or as a subprotocol is none', async () => {
    const ticket = await ticketFor(await created());
    const { apiKey } = harness.demo;
    for (const path of [
      `/v1/realtime?ticket=${ticket}`,
      `/v1/realtime?key=${apiKey}`,
      `/v1/realtime?token=${apiKey}`,
    ]) {
      const client = await connect({ key: null, path });
      expect(client.said[0]).toMatchObject({ authenticated: false });
    }
    const byCookie = await connect({ key: null, headers: { cookie: `ticket=${ticket}; key=${apiKey}` } });
    expect(byCookie.said[0]).toMatchObject({ authenticated: false });
    const refused = await RealtimeClient.refused(harness, { key: null, protocols: [apiKey] });
    expect(refused.status).toBe(400);
  });

  it('A21 of 20 that race with one stolen ticket one gets in, and later none', async () => {
    const ticket = await ticketFor(await created());
    const racers = await Promise.all(Array.from({ length: 20 }, () => connect({ key: null })));
    const answers = await Promise.all(racers.map((client) => client.ask({ type: 'auth', id: 1, ticket })));
    expect(answers.filter(({ type }) => type === 'authenticated')).toHaveLength(1);
    const late = await connect({ key: null });
    expect((await late.ask({ type: 'auth', id: 1, ticket })).error).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await late.end()).toBe(4401);
  });

  it('A21 a ticket opens its own session alone, and of that no phone, metadata or authEntropy', async () => {
    const { json } = await harness.create({ metadata: { secret: 'of the caller' } });
    const id = String(json['id']);
    const page = await connect({ key: null });
    await page.ask({ type: 'auth', id: 1, ticket: await ticketFor(id) });
    const { snapshot } = await page.subscribe(`session:${id}`);
    await harness.approve(id);
    const { data } = await page.event('verification.completed');
    for (const shown of [snapshot, data]) {
      expect(shown).toMatchObject({ id });
      expect(JSON.stringify(shown)).not.toMatch(/phone|metadata|authEntropy|of the caller|clientChallenge/i);
    }
    expect((await page.subscribe(`session:${await created()}`)).error).toMatchObject({ code: 'FORBIDDEN' });
    expect(await page.end()).toBe(4403);
    for (const channel of [`account:${harness.demo.accountId}`, 'binds', 'session:*']) {
      const other = await connect({ key: null });
      await other.ask({ type: 'auth', id: 1, ticket: await ticketFor(id) });
      expect((await other.subscribe(channel)).type, channel).toBe('error');
    }
  });

  it('A17 a message in more than 16 fragments closes its connection, so that a client pays for a message what it costs', async () => {
    const inFragments = async (count: number): Promise<RealtimeClient> => {
      const client = await connect();
      const [first, rest] = ['{"type":"ping","id":1}', ' '];
      for (let at = 1; at <= count; at += 1) client.socket.send(at === 1 ? first : rest, { fin: at === count });
      return client;
    };
    expect(await (await inFragments(16)).next('pong')).toMatchObject({ id: 1 });
    expect(await (await inFragments(17)).end()).toBe(1008);
  });

  it('A21 a flood of messages, a huge frame, a nested one and a frame that is no text end the connection of their sender alone', async () => {
    const honest = await connect();
    const flood = await connect();
    for (let id = 0; id < 200; id += 1) flood.send({ type: 'ping', id });
    expect(await flood.end()).toBe(4429);
    const huge = await connect();
    huge.send('x'.repeat(1024 * 1024));
    expect(await huge.end()).toBe(1009);
    const nested = await connect();
    for (let time = 0; time < 3; time += 1) nested.send('['.repeat(8_000));
    expect(await nested.end()).toBe(4400);
    expect(await honest.ask({ type: 'ping', id: 'still' })).toEqual({ type: 'pong', id: 'still' });
  });
});

describe('A17 holding subscriptions open', () => {
  it('A17 a key pays for each subscribe as for a GET, over all its connections, and these stay open', async () => {
    const key = await keyWith({ default: 12, poll: 3 });
    const [one, other] = [await connect({ key }), await connect({ key })];
    const id = await created();
    const answers = [];
    for (const client of [one, other, one, other]) answers.push(await client.subscribe(`session:${id}`));
    expect(answers.map(({ type, error }) => error?.code ?? type)).toEqual([
      ...['subscribed', 'subscribed', 'subscribed'],
      'RATE_LIMITED',
    ]);
    const read = await harness.call(`/v1/verify/${id}`, { key });
    expect([read.status, read.code]).toEqual([429, 'RATE_LIMITED']);
    // Two upgrades, four subscribes and the GET are counted: five remain.
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await other.subscribe(`session:${await created()}`)).type).toBe('subscribed');
    }
    expect((await one.subscribe(`account:${harness.demo.accountId}`)).error).toMatchObject({ code: 'RATE_LIMITED' });
    for (const client of [one, other]) {
      expect(await client.ask({ type: 'ping', id: 'p' })).toEqual({ type: 'pong', id: 'p' });
    }
    await harness.approve(id);
    expect((await one.event('verification.completed')).data).toMatchObject({ id });
  });

  it('A17 the holders of tickets read their session 60 times a minute, and the key that asked for them is not charged', async () => {
    const key = await keyWith({ poll: 1 });
    const id = await created();
    const pages = await Promise.all([1, 2, 3, 4].map(() => connect({ key: null })));
    for (const page of pages) {
      const issued = await harness.call(`/v1/verify/${id}/realtime-ticket`, { method: 'POST', key });
      await page.ask({ type: 'auth', id: 'a', ticket: issued.json['ticket'] });
    }
    const answers = await Promise.all(pages.flatMap((page) => subscribeMany(page, 15, () => id)));
    expect(answers.map(({ type }) => type)).toEqual(answers.map(() => 'subscribed'));
    const [page] = pages;
    expect((await page?.subscribe(`session:${id}`))?.error).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await page?.ask({ type: 'ping', id: 'p' })).toEqual({ type: 'pong', id: 'p' });
    expect((await harness.call(`/v1/verify/${id}`, { key })).status).toBe(200);
  });

  it('A17 an account has so many subscriptions on one control plane, however many connections it opens', async () => {
    const small = await harness.neighbour({ REALTIME_CONNECTIONS: '15' });
    const { baseUrl } = small;
    const ids = await Promise.all(Array.from({ length: 20 }, () => created()));
    try {
      // The message limit of a connection has a burst of 20.
      const ten = await Promise.all(ids.slice(0, 10).map(() => connect({ baseUrl })));
      const answers = await Promise.all(ten.flatMap((client) => subscribeMany(client, 20, (nth) => ids[nth] ?? '')));
      expect(answers.map(({ type }) => type)).toEqual(answers.map(() => 'subscribed'));
      const more = await connect({ baseUrl });
      expect((await more.subscribe(`session:${ids[0] ?? ''}`)).error).toMatchObject({ code: 'RATE_LIMITED' });
      expect(await more.ask({ type: 'ping', id: 'p' })).toEqual({ type: 'pong', id: 'p' });
      const test = await connect({ baseUrl, key: harness.demo.testApiKey });
      expect((await test.subscribe(`account:${harness.demo.accountId}`)).type).toBe('subscribed');
      const [left] = ten;
      left?.socket.close();
      await left?.end();
      expect((await more.subscribe(`session:${ids[0] ?? ''}`)).type).toBe('subscribed');
    } finally {
      await small.stop();
    }
  });

  /** Sends that many subscribes at once, each with an id of its own. */
  const subscribeMany = (client: RealtimeClient, count: number, sessionOf: (nth: number) => string): Promise<Said>[] =>
    Array.from({ length: count }, (_, nth) => client.subscribe(`session:${sessionOf(nth)}`, `n${nth}`));
});
