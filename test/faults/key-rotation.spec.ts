import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseId } from '@countersign/ids';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { partOfSms, sms } from '../support/gateway-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { RotationHarness, type Answer, type Member, type Ring } from '../support/rotation.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;
/** Pause between two rounds of the traffic, so that restarts get enough CPU time. */
const PACE_MS = 50;

let harness: RotationHarness;
let receiver: Receiver;
const failures: string[] = [];
const load = { isOver: false, calls: 0, done: Promise.resolve() as Promise<unknown> };

beforeAll(async () => {
  harness = await RotationHarness.open();
  receiver = await startReceiver();
  await Promise.all(members().map((member) => member.start([1])));
  load.done = traffic();
});
afterAll(async () => {
  load.isOver = true;
  await load.done;
  await harness.close();
  await receiver.close();
});

const members = (): Member[] => [...harness.controlPlanes, ...harness.gateways];

let phones = 2_000;
const nextPhone = (): string => `+1415555${(phones += 1)}`;

function createBody(phone: string): object {
  const { accountId, brandId } = harness.demo;
  return { phone, accountId, brandId, clientChallenge: 'ab'.repeat(32), webhookUrl: receiver.url };
}

const sessionOf = ({ json }: Answer): { id: string; text: string } => ({
  id: String(json['id']),
  text: decodeURIComponent(String(json['fallbackUri']).split('body=')[1] ?? ''),
});

/** Creates, reads and cancels continuously, each at any running control plane. */
async function traffic(): Promise<void> {
  let turn = 0;
  const anyUp = (): Member => {
    const up = harness.controlPlanes.filter(({ isUp }) => isUp);
    const member = up[(turn += 1) % up.length];
    if (member === undefined) throw new Error('no control plane is up');
    return member;
  };
  while (!load.isOver) {
    const created = await harness.call(anyUp(), '/v1/verify', { method: 'POST', body: createBody(nextPhoneOfLoad()) });
    const id = String(created.json['id']);
    const read = await harness.call(anyUp(), `/v1/verify/${id}`);
    const cancelled = await harness.call(anyUp(), `/v1/verify/${id}`, { method: 'DELETE' });
    const statuses = [created.status, read.status, cancelled.status].join();
    const isSame = created.json['fallbackUri'] === read.json['fallbackUri'];
    if (statuses !== '200,200,204' || !isSame) failures.push(`${statuses} ${JSON.stringify([created, read])}`);
    load.calls += 3;
    await delay(PACE_MS);
  }
}
let loadPhones = 0;
const nextPhoneOfLoad = (): string => `+1415554${2_000 + ((loadPhones += 1) % 7_000)}`;

async function create(at: Member, phone: string): Promise<{ id: string; text: string }> {
  const answer = await harness.call(at, '/v1/verify', { method: 'POST', body: createBody(phone) });
  expect(answer.status, JSON.stringify(answer.json)).toBe(200);
  return sessionOf(answer);
}

async function isApproved(at: Member, id: string): Promise<void> {
  const { status, json } = await harness.call(at, `/v1/verify/${id}`);
  expect([status, json['status']]).toEqual([200, 'approved']);
  expect(json['authEntropy']).toMatch(/^[0-9a-f]{64}$/);
}

/** The queued code of a session, decrypted with the test's key ring. */
async function codeOf(sessionId: string): Promise<string> {
  const [row] = await harness.database.query<{ id: string; sealed: Buffer }>(
    'SELECT id, text_sealed AS sealed FROM outbound_messages WHERE session_id = $1',
    [parseId('sess', sessionId)],
  );
  if (row === undefined) throw new Error('no code was queued');
  return harness.keys.open('message-text', row.sealed, row.id).toString('utf8').slice(0, 6);
}

/** A ticket subscribes to the live channel of its session. */
async function listens(at: Member, ticket: string, sessionId: string): Promise<void> {
  const socket = new WebSocket(`wss://127.0.0.1:${at.port}/v1/realtime`, ['countersign.v1'], {
    ca: readFileSync(harness.caFile),
  });
  const said: string[] = [];
  socket.on('message', (data: Buffer) => {
    said.push(data.toString('utf8'));
    if (said.length === 1) socket.send(JSON.stringify({ type: 'auth', id: 'a', ticket }));
    if (said.length === 2) socket.send(JSON.stringify({ type: 'subscribe', id: 's', channel: `session:${sessionId}` }));
  });
  socket.on('error', (error) => said.push(String(error)));
  await until('the snapshot is there', WITHIN_MS, () => said.length >= 3 || socket.readyState === WebSocket.CLOSED);
  socket.terminate();
  // An event may follow before the connection ends.
  expect(said.slice(0, 3).map((text) => (JSON.parse(text) as { type: string }).type)).toEqual([
    'welcome',
    'authenticated',
    'subscribed',
  ]);
}

/** One idempotency key creates exactly one session, at whichever control planes it is used. */
async function isOneSession(one: Member, other: Member): Promise<void> {
  const headers = { 'idempotency-key': `key ${(phones += 1)}` };
  const body = createBody(nextPhone());
  const both = await Promise.all(
    [one, other].map((at) => harness.call(at, '/v1/verify', { method: 'POST', body, headers })),
  );
  const again = await Promise.all(
    [one, other].map((at) => harness.call(at, '/v1/verify', { method: 'POST', body, headers })),
  );
  const statuses = both.map(({ status }) => status).sort();
  expect([
    [200, 200],
    [200, 409],
  ]).toContainEqual(statuses);
  const made = [...both, ...again].filter(({ status }) => status === 200);
  expect(new Set(made.map(({ json }) => json['id'])).size).toBe(1);
  expect(again.map(({ status }) => status)).toEqual([200, 200]);
  const id = String(made[0]?.json['id']);
  expect((await harness.call(one, `/v1/verify/${id}`, { method: 'DELETE' })).status).toBe(204);
}

/** Operations that one process begins and another completes. */
async function worksAcross(cpOne: Member, cpOther: Member, gwOne: Member, gwOther: Member): Promise<void> {
  const phone = nextPhone();
  const [esmeOne, esmeOther] = await Promise.all([harness.esme(gwOne), harness.esme(gwOther)]);
  const from = { source_addr: phone.slice(1) };
  try {
    const short = await create(cpOne, phone);
    expect((await esmeOther.send('submit_sm', sms(short.text, from))).command_status).toBe(0);
    await isApproved(cpOther, short.id);
    const long = await create(cpOther, phone);
    const half = long.text.indexOf('-') + 8;
    const [head, tail] = [long.text.slice(0, half), long.text.slice(half)];
    const reference = phones % 256;
    const sent = await Promise.all([
      esmeOne.send('submit_sm', partOfSms(head, reference, 2, 1, from)),
      esmeOther.send('submit_sm', partOfSms(tail, reference, 2, 2, from)),
    ]);
    expect(sent.map(({ command_status }) => command_status)).toEqual([0, 0]);
    await isApproved(cpOne, long.id);
    await verifiesSignature(short.id);
    await verifiesSignature(long.id);
  } finally {
    esmeOne.destroy();
    esmeOther.destroy();
  }
  const coded = await create(cpOne, phone);
  expect((await harness.call(cpOther, `/v1/verify/${coded.id}/send-sms`, { method: 'POST' })).status).toBe(200);
  const body = { code: await codeOf(coded.id) };
  const { ticket } = (await harness.call(cpOne, `/v1/verify/${coded.id}/realtime-ticket`, { method: 'POST' })).json;
  await listens(cpOther, String(ticket), coded.id);
  const checked = await harness.call(cpOne, `/v1/verify/${coded.id}/check`, { method: 'POST', body });
  expect(checked.json).toMatchObject({ status: 'approved' });
  await isOneSession(cpOne, cpOther);
}

async function verifiesSignature(sessionId: string): Promise<void> {
  const ofSession = () => receiver.received.find(({ body }) => body.includes(sessionId) && body.includes('completed'));
  await until('the webhook came', WITHIN_MS, () => ofSession() !== undefined);
  const { body = '', headers = {} } = ofSession() ?? {};
  const verified = new Webhook(harness.demo.webhookSecret).verify(body, headers as Record<string, string>);
  expect(verified).toMatchObject({ type: 'verification.completed', data: { status: 'approved' } });
}

async function worksBothWays(): Promise<void> {
  const [[cpOne, cpOther], [gwOne, gwOther]] = [harness.controlPlanes, harness.gateways];
  await worksAcross(cpOne, cpOther, gwOne, gwOther);
  await worksAcross(cpOther, cpOne, gwOther, gwOne);
  expect(failures).toEqual([]);
}

/**
 * Restarts one control plane and one gateway at a time: meanwhile apps with the old key ring work with apps with the
 * new one.
 */
async function rollOut(ring: Ring): Promise<void> {
  for (const at of [0, 1] as const) {
    const pair = [harness.controlPlanes[at], harness.gateways[at]];
    await Promise.all(pair.map((member) => member.stop()));
    await Promise.all(pair.map((member) => member.start(ring)));
    if (at === 0) await worksBothWays();
  }
  const [[cpOne, cpOther], [gwOne, gwOther]] = [harness.controlPlanes, harness.gateways];
  await worksAcross(cpOne, cpOther, gwOne, gwOther);
  expect(failures).toEqual([]);
}

/**
 * Uses both keys until their digests have the current version, re-encrypts the rest, and checks that nothing is left.
 */
async function finish(ring: Ring, oldVersion: number): Promise<void> {
  const [controlPlane] = harness.controlPlanes;
  await until('the digests of the keys are renewed', WITHIN_MS, async () => {
    for (const key of [harness.demo.apiKey, harness.demo.testApiKey]) {
      expect((await harness.call(controlPlane, '/v1/verify?limit=1', { key })).status).toBe(200);
    }
    const rows = await harness.database.query('SELECT 1 FROM api_keys WHERE digest_version = $1', [oldVersion]);
    return rows.length === 0;
  });
  expect(await harness.rotateMasterKey(ring)).toMatch(/values were sealed again/);
  const status = await harness.rotateMasterKey(ring, '--status');
  expect(status).toMatch(new RegExp(`Version ${oldVersion} can be removed after \\d{4}-`));
}

it('a new master key is rolled out, and taken back, without a failure', { timeout: 300_000 }, async () => {
  await worksBothWays();
  await rollOut([1, 2]);
  await rollOut([2, 1]);
  await finish([2, 1], 1);
  await rollOut([2]);
  await rollOut([2, 1]);
  await rollOut([1, 2]);
  await finish([1, 2], 2);
  await rollOut([1]);
  expect(load.calls).toBeGreaterThan(100);
});
