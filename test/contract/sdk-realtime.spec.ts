import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  CountersignClient,
  createChallenge,
  NotFoundError,
  realtime,
  RealtimeError,
  type ConnectSocket,
  type LiveEvent,
  type Realtime,
  type Session,
  type SessionView,
} from '@countersign/sdk';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 20_000;
/** The fields of a session in the page's view. */
const FIELDS = ['id', 'status', 'channel', 'fallbackUri', 'expiresAt', 'createdAt', 'approvedAt', 'latencyMs'].sort();

let harness: ControlPlaneHarness;
let agent: Agent;
let ca: string;
let client: CountersignClient;
const sockets: WebSocket[] = [];
const opened: { close(): void }[] = [];

/** As in the guide, with the CA of the harness. */
const connect: ConnectSocket = (url, protocols, headers) => {
  const socket = new WebSocket(url, protocols, { headers, ca });
  sockets.push(socket);
  return socket;
};

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  ca = readFileSync(path.join(path.dirname(harness.environment['TLS_CERT_FILE'] ?? ''), 'ca.pem'), 'utf8');
  agent = new Agent({ connect: { ca } });
  client = new CountersignClient({
    baseUrl: harness.baseUrl,
    apiKey: harness.demo.apiKey,
    fetch: (url, request) => undiciFetch(url, { ...request, dispatcher: agent }),
  });
});
afterEach(() => {
  for (const live of opened.splice(0)) live.close();
  for (const socket of sockets.splice(0)) socket.terminate();
});
afterAll(async () => {
  await agent.close();
  await harness.close();
});

async function created(): Promise<Session> {
  const { challenge } = await createChallenge();
  const { accountId, brandId } = harness.demo;
  return client.create({
    phone: PHONE,
    accountId,
    brandId,
    clientChallenge: challenge,
    ttl: 300,
    channel: 'sms_fallback',
  });
}

const QUICK = { connect, firstBackoffMs: 10, longestBackoffMs: 50 };
function onServer(): Realtime<Session> {
  const live = client.realtime(QUICK);
  opened.push(live);
  return live;
}
function onPage(sessionId: string): Realtime {
  const live = realtime({ ...QUICK, ticket: () => client.realtimeTicket(sessionId) });
  opened.push(live);
  return live;
}

describe('a subscribed server', () => {
  it('has the session as it ends, and at once when it has ended', async () => {
    const { id } = await created();
    const live = onServer();
    const ended = live.untilEnded(id);
    await harness.approve(id);
    expect(await ended).toEqual(await client.find(id));
    expect(await live.untilEnded(id)).toEqual(await client.find(id));
  });

  it('receives events of its whole account', async () => {
    const events: LiveEvent<Session>[] = [];
    let joined = false;
    onServer().subscribe(`account:${harness.demo.accountId}`, {
      snapshot: () => (joined = true),
      event: (event) => void events.push(event),
    });
    await until('it listens', PATIENCE_MS, () => joined);
    const { id } = await created();
    await client.cancel(id);
    const ofThis = (): LiveEvent<Session>[] => events.filter(({ data }) => Reflect.get(Object(data), 'id') === id);
    await until('the event has arrived', PATIENCE_MS, () => ofThis().length > 0);
    expect(ofThis()).toMatchObject([{ type: 'verification.cancelled', data: { id, status: 'cancelled' } }]);
  });

  it('receives the events that were dispatched while its connection was lost, each once', async () => {
    const events: LiveEvent<Session>[] = [];
    let subscribed = 0;
    const live = onServer();
    live.subscribe(`account:${harness.demo.accountId}`, {
      snapshot: () => (subscribed += 1),
      event: (event) => void events.push(event),
    });
    await until('it listens', PATIENCE_MS, () => subscribed === 1);
    const [first, second] = [await created(), await created()];
    await client.cancel(first.id);
    await until('the event has arrived', PATIENCE_MS, () => events.length === 1);
    for (const socket of sockets.splice(0)) socket.terminate();
    await client.cancel(second.id);
    await until('it listens again', PATIENCE_MS, () => subscribed === 2);
    await until('the missed event has arrived', PATIENCE_MS, () => events.length === 2);
    expect(events.map(({ data }) => Reflect.get(Object(data), 'id') as unknown)).toEqual([first.id, second.id]);
  });

  it('gets an error for a forbidden channel', async () => {
    const live = onServer();
    const ended = (name: `session:${string}` | `account:${string}`): Promise<RealtimeError> =>
      new Promise((resolve) => live.subscribe(name, { ended: resolve }));
    expect(await ended('session:sess_01HF7YAT000000000000000003')).toMatchObject({
      reason: 'refused',
      code: 'SESSION_NOT_FOUND',
    });
    expect(await ended('account:acct_01HF7YAT000000000000000003')).toMatchObject({ code: 'FORBIDDEN' });
    const wrong = realtime({
      ...QUICK,
      url: `${harness.baseUrl.replace('https', 'wss')}/v1/realtime`,
      apiKey: 'csk_live_x',
    });
    opened.push(wrong);
    await expect(wrong.untilEnded('sess_01HF7YAT000000000000000003')).rejects.toMatchObject({ reason: 'unauthorized' });
  });
});

describe('a subscribed page', () => {
  it('sees eight fields of its session, and its end', async () => {
    const { id } = await created();
    const views: (SessionView | null)[] = [];
    const live = onPage(id);
    live.subscribe(`session:${id}`, { snapshot: (view) => void views.push(view) });
    const ended = live.untilEnded(id);
    await until('it listens', PATIENCE_MS, () => views.length > 0);
    await harness.approve(id);
    const approved = await ended;
    expect(approved).toMatchObject({ id, status: 'approved' });
    expect([views[0], approved].map((view) => Object.keys(view ?? {}).sort())).toEqual([FIELDS, FIELDS]);
  });

  it('receives an approval that happened while its connection was lost', async () => {
    const { id } = await created();
    const statuses: string[] = [];
    onPage(id).subscribe(`session:${id}`, { snapshot: (view) => void statuses.push(view?.status ?? 'none') });
    await until('it listens', PATIENCE_MS, () => statuses.length > 0);
    const lost = sockets.splice(0);
    for (const socket of lost) socket.terminate();
    await harness.approve(id);
    await until('it came back', PATIENCE_MS, () => statuses.includes('approved'));
    expect(lost).toHaveLength(1);
  });

  it('gets no ticket for an unknown session', async () => {
    await expect(client.realtimeTicket('sess_01HF7YAT000000000000000003')).rejects.toThrow(NotFoundError);
  });
});

describe('a restart of the service', () => {
  it('does not end subscriptions, and later events are received', async () => {
    const { id } = await created();
    const statuses: string[] = [];
    const live = onServer();
    live.subscribe(`session:${id}`, { snapshot: (session) => void statuses.push(session?.status ?? 'none') });
    const ended = live.untilEnded(id);
    await until('it listens', PATIENCE_MS, () => statuses.length > 0);
    await harness.stop();
    await harness.start();
    await harness.approve(id);
    expect(await ended).toMatchObject({ id, status: 'approved' });
  });
});
