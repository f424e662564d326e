import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneRoom } from '../support/control-plane-room.js';
import { startReceiver } from '../support/receiver.js';
import { Told } from '../support/told.js';
import { until } from '../support/until.js';

let room: ControlPlaneRoom;
let text: string;
let told: Told;

beforeAll(async () => {
  room = await ControlPlaneRoom.open();
  ({ text } = await room.call('/v1/asyncapi.json', { key: null }));
  told = Told.by(text);
});
afterAll(() => room.close());

const REDOCLY = ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--config', 'config/tooling/redocly.yaml'];

describe('GET /v1/asyncapi.json', () => {
  it('is public, may be kept for a while and counts towards no quota', async () => {
    const answer = await room.call('/v1/asyncapi.json', { key: null });
    expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=300',
    ]);
    expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    const { host } = new URL(room.baseUrl);
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
    expect(told.examples().length).toBeGreaterThan(15);
    for (const [name, payload] of told.examples())
      expect([name, told.faults(name, 'payload', payload)]).toEqual([name, []]);
  });
});

describe('the webhooks of the document', () => {
  it('are what is really posted, field by field', async () => {
    const types = ['denied', 'expired', 'cancelled', 'sender_mismatch', 'otp_delivery'].map(
      (name) => `verification.${name}`,
    );
    await room.database.query('UPDATE accounts SET webhook_events = $1', [types]);
    const receiver = await startReceiver();
    const seen = (): string[] =>
      receiver.received.map(({ body }) => String(Reflect.get(JSON.parse(body) as object, 'type')));
    try {
      const call = { key: room.demo.testApiKey };
      const create = async (phone: string): Promise<string> => {
        const { json } = await room.create({ phone, webhookUrl: receiver.url, ttl: 300, metadata: { a: '7' } }, call);
        return `/v1/verify/${String(json['id'])}`;
      };
      for (const phone of ['+15005550001', '+15005550003', '+15005550005']) await create(phone);
      await room.call(`${await create('+15005550006')}/send-sms`, { ...call, method: 'POST' });
      await room.call(await create('+15005550004'), { ...call, method: 'DELETE' });
      const wanted = ['completed', 'denied', 'sender_mismatch', 'otp_delivery', 'cancelled'];
      await until('every kind of event came', 20_000, () =>
        wanted.every((name) => seen().includes(`verification.${name}`)),
      );
      for (const posted of receiver.received)
        expect([posted.body, told.webhookFaults(posted)]).toEqual([posted.body, []]);
    } finally {
      await receiver.close();
    }
  });
});
