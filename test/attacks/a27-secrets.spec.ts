import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { serialize } from 'node:v8';
import { ControlPlaneSettings, GatewaySettings, loadSettings } from '@countersign/settings';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, ENTROPY_KEY, MASTER_KEY, PHONE } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { RealtimeClient } from '../support/realtime-client.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;
const SYSTEM_PASSWORD = 'k3Vd9qLz';
const BIND_PASSWORD = 'p7WxRt2m';
const METADATA = 'metadata-of-the-caller';

let folder: string;
let redis: { readonly url: string; readonly stop: () => Promise<void> } | null = null;
let harness: ControlPlaneHarness;
let gateway: GatewayBeside;
let receiver: Receiver;
/** The secrets by name. */
let secrets: Readonly<Record<string, string>>;
/** Identifiers of the sessions below. */
let approvedId: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-attacks-'));
  if (findRedis() !== undefined) redis = await startRedis({ dataDir: folder, log: () => undefined });
  receiver = await startReceiver();
  harness = await ControlPlaneHarness.open(redis === null ? { REDIS_URL: '' } : { REDIS_URL: redis.url });
  gateway = await GatewayBeside.start(harness);
  secrets = await live();
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await harness.close();
  await receiver.close();
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One session by SMS and one by code, with all calls of a caller, a browser, a carrier and an engineer around them. */
async function live(): Promise<Record<string, string>> {
  const admin = new AdminCalls(harness);
  await gateway.system({ systemId: 'carrier', password: SYSTEM_PASSWORD });
  const hosts = { host: '127.0.0.1', port: 1 };
  const bind = await admin.post('binds', {
    name: 'out',
    carrier: 'out',
    ...hosts,
    systemId: 'out',
    password: BIND_PASSWORD,
  });
  await admin.post('routes', { prefix: '+', bindId: bind.json['id'] });
  const carrier = await gateway.esme('carrier', { password: SYSTEM_PASSWORD });
  const made = await harness.create({ webhookUrl: receiver.url, metadata: { order: METADATA } });
  approvedId = String(made.json['id']);
  const text = decodeURIComponent(String(made.json['fallbackUri']).split('?body=')[1] ?? '');
  const { json: issued } = await harness.call(`/v1/verify/${approvedId}/realtime-ticket`, { method: 'POST' });
  const page = await RealtimeClient.open(harness, { key: null });
  await page.ask({ type: 'auth', id: 1, ticket: issued['ticket'] });
  await page.subscribe(`session:${approvedId}`);
  await carrier.send('submit_sm', sms(`please let me in ${text}`));
  await page.event('verification.completed');
  page.close();
  await until('the webhook arrives', WITHIN_MS, () => receiver.received.length > 0);
  const approved = await harness.call(`/v1/verify/${approvedId}`);
  // A wrong key, a wrong password and a wrong body, which logs might contain.
  await harness.call('/v1/verify', { key: `${harness.demo.apiKey.slice(0, -6)}000000` });
  await harness.create({}, { body: `{"phone":"${PHONE}","secret":"${METADATA}` });
  await gateway
    .connectUnbound()
    .then((esme) => esme.bind({ port: 0, systemId: 'carrier', password: `${SYSTEM_PASSWORD}x` }));
  const coded = await harness.create({ phone: '+12125550123' });
  const sent = await harness.call(`/v1/verify/${String(coded.json['id'])}/send-sms`, { method: 'POST' });
  expect(sent.status).toBe(200);
  return {
    'the token': /AUTH-\w+-(\w{16})/.exec(text)?.[1] ?? '',
    'the text of the message': 'please let me in',
    authEntropy: String(approved.json['authEntropy']),
    'the live key': harness.demo.apiKey,
    'the test key': harness.demo.testApiKey,
    'the admin key': admin.key,
    'the webhook secret': harness.demo.webhookSecret,
    'its octets': Buffer.from(harness.demo.webhookSecret.slice('whsec_'.length), 'base64').toString('hex'),
    'the ticket': String(issued['ticket']),
    "the system's password": SYSTEM_PASSWORD,
    "the bind's password": BIND_PASSWORD,
    'the entropy key': ENTROPY_KEY.toString('hex'),
    'the master key': MASTER_KEY.toString('hex'),
  };
}

/**
 * The forms in which a secret may appear: plain, as octets in hex and base64, and the octets that its hex stands for.
 */
function spellings(secret: string): string[] {
  const octets = Buffer.from(secret, 'utf8');
  const ofHex = /^(?:[0-9a-f]{2}){8,}$/.test(secret) ? Buffer.from(secret, 'hex') : null;
  const encoded = ofHex === null ? [] : [ofHex.toString('base64').replace(/=+$/, ''), ofHex.toString('latin1')];
  return [secret, octets.toString('hex'), octets.toString('base64').replace(/=+$/, ''), ...encoded];
}

const found = (haystack: string, wanted: Readonly<Record<string, string>>): string[] => {
  const folded = haystack.toLowerCase();
  return Object.entries(wanted)
    .filter(([, secret]) => secret !== '' && spellings(secret).some((each) => folded.includes(each.toLowerCase())))
    .map(([what]) => what);
};

/** Every row of every table, as in a stolen backup: the daemons' role may not read all of them. */
async function dump(): Promise<string> {
  const owner = new pg.Client({ connectionString: harness.home.ownerUrl });
  await owner.connect();
  try {
    const { rows: tables } = await owner.query<{ name: string }>(
      `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await owner.query<{ text: string }>(`SELECT t::text AS text FROM ${name} AS t`);
      texts.push(...rows.map(({ text }) => text));
    }
    return texts.join('\n');
  } finally {
    await owner.end();
  }
}

/** Redis's append-only files: every command since its start. */
function redisFiles(): string {
  const files = readdirSync(path.join(folder, 'redis'), { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && /\.(?:aof|rdb)$/.test(file.name))
    .map((file) => readFileSync(path.join(file.parentPath, file.name), 'latin1'))
    .join('\n');
}

describe('A27 the key behind authEntropy', () => {
  it('A27 a stolen database and every phone number do not give authEntropy: no value of it can be made without the key', async () => {
    const rows = await dump();
    const entropy = secrets['authEntropy'] ?? '';
    expect(entropy).toMatch(/^[0-9a-f]{64}$/);
    expect(found(rows, { entropy, key: ENTROPY_KEY.toString('hex') })).toEqual([]);
    const { accountId, brandId } = harness.demo;
    const parts = ['countersign/auth-entropy/v1', PHONE, accountId, brandId];
    const framed = Buffer.concat(
      parts.flatMap((part) => {
        const length = Buffer.alloc(4);
        length.writeUInt32BE(Buffer.byteLength(part));
        return [length, Buffer.from(part)];
      }),
    );
    // The construction is the published one, so only the key protects the value.
    expect(createHmac('sha256', ENTROPY_KEY).update(framed).digest('hex')).toBe(entropy);
    expect(createHash('sha256').update(framed).digest('hex')).not.toBe(entropy);
    for (const key of [Buffer.alloc(0), Buffer.alloc(32), MASTER_KEY]) {
      expect(createHmac('sha256', key).update(framed).digest('hex')).not.toBe(entropy);
    }
  });

  it('A27 the value of one brand, account or mode says nothing of another', async () => {
    const { accountId } = harness.demo;
    const texts = { accountId, name: 'Second', slug: 'SECOND', instruction: 'Send this message.' };
    const brand = await new AdminCalls(harness).post('brands', texts);
    const values = new Set([secrets['authEntropy']]);
    for (const [changes, key] of [
      [{ brandId: brand.json['id'] }, harness.demo.apiKey],
      [{}, harness.demo.testApiKey],
    ] as const) {
      const { json } = await harness.create(changes, { key });
      const id = String(json['id']);
      if (key === harness.demo.testApiKey) await harness.approve(id);
      else await approveBySms(json);
      values.add(String((await harness.call(`/v1/verify/${id}`, { key })).json['authEntropy']));
    }
    expect(values.size).toBe(3);
  });

  it('A27 a gateway approves without the entropy keys and the admin key, and reads neither where it is given them', () => {
    // The other secrets belong to the session that this link approved.
    expect(secrets['authEntropy']).toMatch(/^[0-9a-f]{64}$/);
    const keys = { entropy: ENTROPY_KEY.toString('hex'), admin: harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '' };
    expect(found(Object.values(gateway.environment).join('\n'), keys)).toEqual([]);
    const environment = { ...harness.environment, ...gateway.environment };
    const read = (settings: typeof ControlPlaneSettings | typeof GatewaySettings): string[] =>
      found(serialize({ ...loadSettings<object>(settings, environment) }).toString('latin1'), keys);
    expect([read(ControlPlaneSettings), read(GatewaySettings)]).toEqual([['entropy', 'admin'], []]);
  });

  async function approveBySms(json: Readonly<Record<string, unknown>>): Promise<void> {
    const carrier = await gateway.esme('carrier', { password: SYSTEM_PASSWORD });
    const text = decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
    await carrier.send('submit_sm', sms(text));
    const status = async (): Promise<unknown> =>
      (await harness.call(`/v1/verify/${String(json['id'])}`)).json['status'];
    await until('it is approved', WITHIN_MS, async () => (await status()) === 'approved');
  }
});

describe('A28 secrets in stores, queues and logs', () => {
  it('A28 a dump of every table holds none of them, in no spelling', async () => {
    const rows = await dump();
    // The dump contains the sessions of this test.
    expect(rows).toContain('verification.completed');
    expect(rows).toContain('matched');
    expect(found(rows, secrets)).toEqual([]);
  });

  it('A28 every log line of both daemons, at level debug, holds none of them and no phone', () => {
    const lines = [...harness.log, ...gateway.log].join('\n');
    expect(harness.log.length > 0 && gateway.log.length > 0).toBe(true);
    const { 'the entropy key': _, ...others } = secrets;
    expect(found(lines, { ...others, phone: PHONE.slice(1), 'the coded phone': '12125550123', METADATA })).toEqual([]);
  });

  it.skipIf(findRedis() === undefined)('A28 the files of Redis hold none of them and no phone', async () => {
    await until('Redis has written', WITHIN_MS, () => redisFiles().length > 0);
    const files = redisFiles();
    expect(files).toContain('countersign');
    expect(found(files, { ...secrets, phone: PHONE.slice(1), 'the coded phone': '12125550123', METADATA })).toEqual([]);
  });

  it('A28 no answer of /v1 may be cached, and no error repeats the request', async () => {
    const answer = await harness.call(`/v1/verify/${approvedId}`);
    expect(answer.headers['cache-control']).toBe('no-store');
    const wrong = await harness.create({ phone: '+1415555267x', ttl: 7 });
    expect(wrong.text).not.toContain('1415555267x');
  });
});

describe('A29 people in a stolen database', () => {
  it('A29 no text of a message, no code and no webhook body can be read', async () => {
    const rows = await dump();
    for (const table of ['messages', 'outbound_messages', 'sessions', 'deliveries']) {
      const texts = await harness.database.query<{ text: string }>(`SELECT t::text AS text FROM ${table} AS t`);
      expect(texts.length, table).toBeGreaterThan(0);
    }
    for (const text of [
      'please let me in',
      'is your Acme code',
      'Do not share it',
      '"type":"verification.completed"',
    ]) {
      expect(found(rows, { text })).toEqual([]);
    }
  });

  it('A29 digests of phones are keyed: hashing every number does not find one', async () => {
    const rows = (await dump()).toLowerCase();
    for (const phone of [PHONE, PHONE.slice(1), '+12125550123']) {
      for (const algorithm of ['sha256', 'sha512', 'sha1', 'md5']) {
        expect(rows).not.toContain(createHash(algorithm).update(phone).digest('hex').slice(0, 32));
      }
    }
  });
});

describe('A30 log lines that an attacker writes', () => {
  it('A30 input over HTTP, SMPP and the webhook is logged as one JSON object a line', async () => {
    const forged = '{"level":30,"msg":"forged by the attacker"}';
    const inject = `x\r\n${forged}\n\u2028\u001b[31m`;
    await harness.create({ phone: inject, metadata: { [inject]: inject }, [inject]: inject });
    await harness.call(`/v1/${encodeURIComponent(inject)}?a=${encodeURIComponent(inject)}`);
    await harness.call('/v1/verify', { headers: { 'user-agent': `x ${forged}`, 'x-request-id': forged } });
    const esme = await gateway.connectUnbound();
    await esme.bind({ port: 0, systemId: 'a\r\n{"a":1}', password: 'x\n{}' }).catch(() => undefined);
    const carrier = await gateway.esme('carrier', { password: SYSTEM_PASSWORD });
    await carrier.send('submit_sm', sms(inject, { source_addr_ton: 5, source_addr: '\n{"x":1}\r' }));
    await fetch(`http://127.0.0.1:${gateway.ports.http}/rcs/webhook`, { method: 'POST', body: inject });
    const lines = [...harness.log, ...gateway.log];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line.endsWith('\n') && !line.slice(0, -1).includes('\n')).toBe(true);
      expect(line).not.toMatch(/\p{Cc}(?!$)/u);
      const { msg } = JSON.parse(line) as { msg?: string };
      expect(msg).not.toBe('forged by the attacker');
    }
  });
});
