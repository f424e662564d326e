import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { type Dial, RealtimeClient } from '../support/realtime-client.js';
import { startReceiver } from '../support/receiver.js';
import { DocumentedMessages } from '../support/received-events.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let text: string;
let documented: DocumentedMessages;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  ({ text } = await harness.call('/v1/asyncapi.json', { key: null }));
  documented = DocumentedMessages.by(text);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => harness.close());

const clients: RealtimeClient[] = [];
async function connect(dial: Dial = {}): Promise<RealtimeClient> {
  const client = await RealtimeClient.open(harness, dial);
  clients.push(client);
  return client;
}

const REDOCLY = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'config/tooling/redocly.yaml'];

describe('GET /v1/asyncapi.json', () => {
  it('is public, may be kept for a while and counts towards no quota', async () => {
    const answer = await harness.call('/v1/asyncapi.json', { key: null });
    expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=300',
    ]);
    expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    const { host } = new URL(harness.baseUrl);
    expect(answer.json).toMatchObject({ asyncapi: '3.0.0', servers: { countersign: { host, protocol: 'wss' } } });
  });

  it('passes the linter', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-asyncapi-'));
    const file = path.join(folder, 'asyncapi.json');
    writeFileSync(file, text);
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const command = [...REDOCLY, '--format', 'github-actions', file];
    const { status, stdout } = spawnSync(process.execPath, command, { env, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([stdout, status]).toEqual(['', 0]);
  });

  it('shows of every message one that is as it says', () => {
    expect(documented.examples().length).toBeGreaterThan(15);
    for (const [name, payload] of documented.examples())
      expect([name, documented.faults(name, 'payload', payload)]).toEqual([name, []]);
  });
});

describe('the webhooks of the document', () => {
  it('are the posted bodies, field by field', async () => {
    const types = ['denied', 'expired', 'cancelled', 'sender_mismatch', 'otp_delivery'].map(
      (name) => `verification.${name}`,
    );
    await harness.database.query('UPDATE accounts SET webhook_events = $1', [types]);
    const receiver = await startReceiver();
    const seen = (): string[] =>
      receiver.received.map(({ body }) => String(Reflect.get(JSON.parse(body) as object, 'type')));
    try {
      const call = { key: harness.demo.testApiKey };
      const create = async (phone: string): Promise<string> => {
        const { json } = await harness.create(
          { phone, webhookUrl: receiver.url, ttl: 300, metadata: { a: '7' } },
          call,
        );
        return `/v1/verify/${String(json['id'])}`;
      };
      for (const phone of ['+15005550001', '+15005550003', '+15005550005']) await create(phone);
      await harness.call(`${await create('+15005550006')}/send-sms`, { ...call, method: 'POST' });
      await harness.call(await create('+15005550004'), { ...call, method: 'DELETE' });
      await harness.call('/v1/webhooks/test', { ...call, method: 'POST', body: { url: receiver.url } });
      const sessions = ['completed', 'denied', 'sender_mismatch', 'otp_delivery', 'cancelled'];
      const wanted = [...sessions.map((name) => `verification.${name}`), 'webhook.test'];
      await until('every kind of event came', 20_000, () => wanted.every((type) => seen().includes(type)));
      for (const posted of receiver.received)
        expect([posted.body, documented.webhookFaults(posted)]).toEqual([posted.body, []]);
    } finally {
      await receiver.close();
    }
  });
});

describe('the frames of the document', () => {
  /** The kinds of all received messages, after each was checked against the document. */
  function receivedKinds(): Set<string> {
    const said = clients.flatMap((client) => client.said);
    for (const frame of said) expect([frame, documented.frameFaults(frame)]).toEqual([frame, []]);
    return new Set(said.map((frame) => String(frame.type === 'event' ? frame['event'] : frame.type)));
  }

  it('are the events of a server, of a session and of its whole account', async () => {
    const client = await connect({ key: harness.demo.testApiKey });
    const call = { key: harness.demo.testApiKey };
    const create = async (phone: string): Promise<string> =>
      String((await harness.create({ phone, ttl: 300, metadata: { a: '7' } }, call)).json['id']);
    await client.subscribe(`account:${harness.demo.accountId}`);
    const listened = await create('+15005550006');
    await client.subscribe(`session:${listened}`);
    await harness.call(`/v1/verify/${listened}/send-sms`, { ...call, method: 'POST' });
    for (const phone of ['+15005550001', '+15005550003', '+15005550005']) await create(phone);
    await harness.call(`/v1/verify/${await create('+15005550004')}`, { ...call, method: 'DELETE' });
    const events = ['completed', 'denied', 'cancelled', 'sender_mismatch', 'otp_delivery', 'updated'];
    await client.quiet(() => events.every((name) => client.events(`verification.${name}`).length > 0));
    await client.subscribe('session:sess_01HF7YAT000000000000000001');
    await client.ask({ type: 'unsubscribe', id: 7, channel: `session:${listened}` });
    client.send('{');
    await client.next('error');
    const kinds = [...events.map((name) => `verification.${name}`), 'welcome', 'subscribed', 'unsubscribed', 'pong'];
    expect([...receivedKinds()]).toEqual(expect.arrayContaining([...kinds, 'error']));
  });

  it('are the events of a page, which have fewer fields', async () => {
    const client = await connect({ key: null });
    const id = String((await harness.create()).json['id']);
    const { json } = await harness.call(`/v1/verify/${id}/realtime-ticket`, { method: 'POST' });
    await client.ask({ type: 'auth', id: 1, ticket: json['ticket'] });
    await client.subscribe(`session:${id}`);
    await harness.approve(id);
    const { data } = await client.event('verification.completed');
    expect(Object.keys(data ?? {})).toHaveLength(8);
    expect([...receivedKinds()]).toEqual(['welcome', 'authenticated', 'subscribed', 'verification.completed']);
  });

  it('are the bind events of an engineer, and the last message to every client', async () => {
    const admin = { key: harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '' };
    const bind = {
      name: 'north',
      hosts: [{ host: '127.0.0.1', port: 1 }],
      systemId: 'a',
      password: 'b',
      enabled: false,
    };
    const { json } = await harness.call('/v1/admin/binds', { ...admin, method: 'POST', body: bind });
    const beside = await harness.neighbour();
    const client = await connect({ ...admin, baseUrl: beside.baseUrl });
    expect((await client.subscribe('binds')).snapshot).toHaveLength(1);
    await harness.call(`/v1/admin/binds/${String(json['id'])}`, { ...admin, method: 'PATCH', body: { window: 5 } });
    await client.event('bind.updated');
    await beside.stop();
    expect(await client.end()).toBe(1001);
    expect([...receivedKinds()]).toEqual(['welcome', 'subscribed', 'bind.updated', 'closing']);
  });
});
