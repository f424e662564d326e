import { createHash } from 'node:crypto';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AccountStore } from '@countersign/accounts/accounts';
import { createApiKey } from '@countersign/keys';
import { parseId, renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf, type Operation } from '../../apps/control-plane/src/docs/openapi/operations.js';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer, type Call } from '../support/control-plane-harness.js';
import { pastPartitions } from '../support/database.js';
import { storePast } from '../support/past-sessions.js';
import { RealtimeClient } from '../support/realtime-client.js';
import { startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { deliveriesOf, DELIVERIES } from '../support/webhook-calls.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const UNKNOWN_SESSION = 'sess_00000000000000000000000000';

let harness: ControlPlaneHarness;
let accounts: AccountStore;
let admin: AdminCalls;
/** A caller with another account of the same installation. */
let stranger: { readonly key: string; readonly accountId: string };
let operations: readonly Operation[];

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const { account } = await accounts.createAccount(harness.database, { name: 'Stranger' });
  const { key } = await accounts.createApiKey(harness.database, {
    accountId: account.id,
    kind: 'live',
    name: 'k',
    limits: { default: 600_000, create: 300_000, poll: 60_000 },
  });
  stranger = { key, accountId: renderId('acct', account.id) };
  const { text } = await harness.call('/v1/openapi.json', { key: null });
  operations = operationsOf(JSON.parse(text) as OpenAPIObject);
});
afterAll(() => harness.close());

const created = async (call: Call = {}): Promise<string> => String((await harness.create({}, call)).json['id']);

/** The parts of an answer that a caller can compare. */
function seen({ status, text, headers }: Answer): object {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  const steady = Object.entries(rest).filter(([name]) => !/ratelimit|retry-after/i.test(name));
  return { status, text, headers: Object.fromEntries(steady) };
}

/** Every row of the table, as a dump shows it. */
async function dumpOf(table: string): Promise<string> {
  const rows = await harness.database.query<{ text: string }>(`SELECT t::text AS text FROM ${table} AS t`);
  return rows.map(({ text }) => text).join('\n');
}

describe('A11 keys that are stolen or guessed', () => {
  it('A11 the table of keys holds no key, no part of its secret, and no digest that can be made without the server', async () => {
    const dump = (await dumpOf('api_keys')) + (await dumpOf('admin_keys'));
    for (const key of [harness.demo.apiKey, harness.demo.testApiKey, stranger.key]) {
      const secret = key.replace(/^csk_\w+_/, '').slice(0, 32);
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(secret.slice(-24));
      for (const text of [key, secret]) {
        expect(dump).not.toContain(createHash('sha256').update(text).digest('hex'));
        expect(dump).not.toContain(createHash('sha512').update(text).digest('hex'));
      }
    }
  });

  it('A11 a stolen key ends everywhere within 5 s of its revocation, an open WebSocket included', async () => {
    const accountId = parseId('acct', harness.demo.accountId) ?? '';
    const { id, key } = await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'stolen' });
    const client = await RealtimeClient.open(harness, { key });
    expect((await admin.post(`keys/${renderId('key', id)}/revoke`)).status).toBe(202);
    await expect
      .poll(async () => (await harness.call(`/v1/verify/${UNKNOWN_SESSION}`, { key })).status, { timeout: 5_000 })
      .toBe(401);
    expect(await client.end()).toBe(4401);
  });

  it('A11 of 200 well-formed keys from one address none works, and beyond its quota they are refused with 429', async () => {
    const guessing = await harness.neighbour();
    try {
      const guesses = Array.from({ length: 200 }, (_, at) => createApiKey(at % 3 === 0 ? 'admin' : 'live'));
      const answers = await Promise.all(
        guesses.map((key) => harness.call(`/v1/verify/${UNKNOWN_SESSION}`, { key, baseUrl: guessing.baseUrl })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([401, 429]));
      // The limit is 60 a minute; the process counts requests itself, with the same limit, when the shared counter is
      // slow.
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(120);
      // A caller with a key is not affected, from the same address.
      expect((await harness.call(`/v1/verify/${UNKNOWN_SESSION}`)).status).toBe(404);
    } finally {
      await guessing.stop();
    }
  });
});

/** An approved session of the demo account, three days old; another statement reads those of earlier days. */
async function ofThreeDaysAgo(): Promise<string> {
  const createdMs = harness.clock.nowMs() - 3 * DAY_MS;
  await pastPartitions(harness.home, createdMs);
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  const brandId = parseId('brd', harness.demo.brandId) ?? '';
  const [past] = await storePast(harness.database, [{ accountId, brandId, createdMs }]);
  const id = renderId('sess', past?.id ?? '');
  expect((await harness.call(`/v1/verify/${id}`)).json).toMatchObject({ id, status: 'approved' });
  return id;
}

describe('A13 reading data of another account', () => {
  it('A13 every call about a session, delivery or account answers a foreign id as one that never was', async () => {
    const approved = await created();
    await harness.approve(approved);
    const ids = [await created(), approved, await ofThreeDaysAgo()];
    const about = operations.filter(({ path }) => path.includes('{sessionId}'));
    expect(about.length).toBeGreaterThanOrEqual(6);
    for (const { method, path } of about) {
      for (const id of ids) {
        const call: Call = {
          method,
          key: stranger.key,
          ...(path.endsWith('/check') ? { body: { code: '123456' } } : {}),
        };
        const foreign = await harness.call(path.replace('{sessionId}', id), call);
        const unknown = await harness.call(path.replace('{sessionId}', UNKNOWN_SESSION), call);
        expect(foreign.status, `${method} ${path}`).toBe(404);
        expect(seen(foreign), `${method} ${path}`).toEqual(seen(unknown));
      }
    }
  });

  it('A13 naming the other account in a body, a query or a channel gives nothing', async () => {
    await created();
    const { accountId } = harness.demo;
    const before = await harness.countSessions();
    expect(await harness.create({}, { key: stranger.key })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    const own = { accountId: stranger.accountId };
    expect(await harness.create(own, { key: stranger.key })).toMatchObject({ status: 422, code: 'INVALID_BRAND' });
    expect(await harness.countSessions()).toBe(before);
    const listed = await harness.call(`/v1/verify?phone=${encodeURIComponent(PHONE)}`, { key: stranger.key });
    expect(listed.json).toEqual({ data: [], hasMore: false });
    const usage = await harness.call(`/v1/usage?accountId=${accountId}`, { key: stranger.key });
    expect(JSON.stringify(usage.json)).not.toContain(harness.demo.brandId);
    for (const channel of [`account:${accountId}`, 'binds', `session:${await created()}`]) {
      const client = await RealtimeClient.open(harness, { key: stranger.key });
      expect((await client.subscribe(channel)).type, channel).toBe('error');
      client.close();
    }
  });

  it('A13 a key with the scope account learns the text of no key with larger limits', async () => {
    const keyWith = async (limits: object, scopes?: readonly string[]): Promise<Answer['json']> =>
      (await admin.post('keys', { accountId: stranger.accountId, name: 'limits', limits, ...(scopes && { scopes }) }))
        .json;
    const low = String((await keyWith({ default: 60 }, ['account', 'verify']))['key']);
    const large = await keyWith({ default: 100_000 }, ['verify']);
    const rotated = await harness.call(`/v1/account/keys/${String(large['id'])}/rotate`, { method: 'POST', key: low });
    expect(rotated).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    expect(rotated.text).not.toContain('csk_live_');
    expect((await harness.call('/v1/verify', { key: String(large['key']) })).status).toBe(200);
  });

  it('A13 keys that a key makes allow no more requests together than that key', async () => {
    const limits = { default: 30 };
    const made = await admin.post('keys', {
      ...{ accountId: stranger.accountId, name: 'quota', scopes: ['account', 'verify'], limits },
    });
    const first = String(made.json['key']);
    const keys = [first];
    for (let name = 0; name < 4; name += 1) {
      const body = { name: `copy ${name}`, scopes: ['verify'] };
      const copy = await harness.call('/v1/account/keys', { method: 'POST', key: first, body });
      keys.push(String(copy.json['key']));
    }
    const calls = keys.flatMap((key) => Array.from({ length: 30 }, () => harness.call('/v1/verify', { key })));
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    // Four of the 30 made the keys. A second window may have begun meanwhile.
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(26 + 30);
  });

  it('A13 no key of an account works on any call of the engineers, and none of theirs on its calls', async () => {
    const theirs = operations.filter(({ path }) => path.startsWith('/v1/admin/'));
    expect(theirs.length).toBeGreaterThan(20);
    for (const { method, path } of theirs) {
      const target = path.replaceAll(/\{[^}]+\}/g, 'x');
      const answer = await harness.call(target, { method, key: harness.demo.apiKey });
      expect([answer.status, answer.code], `${method} ${path}`).toEqual([403, 'FORBIDDEN']);
    }
    const answer = await harness.call(`/v1/verify/${await created()}`, { key: admin.key });
    expect(answer.status).toBe(403);
  });
});

describe('A14 calling without a key', () => {
  it('A14 every call under /v1 but its two descriptions is 401, and changes nothing', async () => {
    // Failed authentication has a quota for each address, so the requests come from many.
    const id = await created();
    const isOpen = ({ path }: Operation): boolean => /\/v1\/(?:openapi|asyncapi)\.json$/.test(path);
    const closed = operations.filter((each) => !isOpen(each) && each.path.startsWith('/v1/'));
    expect(closed.length).toBeGreaterThan(40);
    const proxied = await harness.neighbour({ TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/8' });
    try {
      const answers = await Promise.all(
        closed.map(async ({ method, path }, at) => {
          const target = path.replaceAll(/\{[^}]+\}/g, id);
          const response = await fetch(proxied.baseUrl.replace('https', 'http') + target, {
            method,
            headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': `198.51.100.${at % 250}` },
          });
          await response.text();
          return `${response.status} ${method} ${path}`;
        }),
      );
      expect(answers.filter((answer) => !answer.startsWith('401 '))).toEqual([]);
    } finally {
      await proxied.stop();
    }
    expect((await harness.call(`/v1/verify/${id}`)).json['status']).toBe('pending');
  });
});

describe('A15 additional fields in requests', () => {
  it.each([
    'id',
    'status',
    'approvedAt',
    'authEntropy',
    'test',
    'expiresAt',
    'otpAttemptLimit',
    'price',
    'inboundNumber',
  ])('A15 %s in a create is refused, not stored', async (field) => {
    const before = await harness.countSessions();
    const answer = await harness.create({ [field]: 'approved' });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect(await harness.countSessions()).toBe(before);
  });

  it('A15 __proto__ and constructor change nothing: refused as fields, mere texts in metadata', async () => {
    const body = JSON.stringify(harness.createBody());
    for (const more of ['"__proto__":{"ttl":60,"polluted":true}', '"constructor":{"prototype":{"polluted":true}}']) {
      expect((await harness.create({}, { body: body.replace('{', `{${more},`) })).status).toBe(422);
    }
    const metadata = '"metadata":{"__proto__":"a","constructor":"b","toString":"c"}';
    const answer = await harness.create({}, { body: body.replace('{', `{${metadata},`) });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(metadata);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('A15 an engineer cannot change read-only fields by adding them', async () => {
    const { json } = await admin.post('keys', { accountId: harness.demo.accountId, kind: 'test', name: 'n' });
    for (const changes of [{ kind: 'live' }, { accountId: stranger.accountId }, { revokedAt: null }, { digest: 'x' }]) {
      expect((await admin.patch(`keys/${String(json['id'])}`, changes)).status).toBeGreaterThanOrEqual(400);
    }
    const brand = await admin.patch(`brands/${harness.demo.brandId}`, { entropyKeyVersion: 2 });
    expect(brand.status).toBe(422);
  });
});

describe('A16 bodies made to break the reader', () => {
  const deep = (depth: number): string => `{"metadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;

  it.each<[string, () => string | Buffer, number]>([
    ['of 129 KiB', () => `{"a":"${'x'.repeat(129 * 1024)}"}`, 413],
    ['of 200 KiB of spaces', () => Buffer.alloc(200 * 1024, 0x20), 413],
    ['nested 18,000 deep', () => deep(18_000), 400],
    ['nested 40 deep', () => deep(40), 400],
    [
      'of half a character',
      () => Buffer.concat([Buffer.from('{"phone":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      400,
    ],
    ['with a field twice', () => `{"ttl":60,"ttl":61}`, 400],
    ['with a field twice, once escaped', () => `{"ttl":60,"\\u0074tl":61}`, 400],
    ['with a number of 100,000 digits', () => `{"ttl":${'9'.repeat(100_000)}}`, 422],
    ['that is a list', () => '[]', 400],
    ['that ends early', () => '{"phone":', 400],
  ])('A16 %s is refused in the documented shape, and the next request is answered', async (_what, body, status) => {
    const before = await harness.countSessions();
    const answer = await harness.create({}, { body: body() });
    expect(answer.status).toBe(status);
    expect(answer.json['error']).toMatchObject({ code: expect.any(String) as string });
    expect(await harness.countSessions()).toBe(before);
    expect((await harness.create()).status).toBe(200);
  });
});

describe('A16 answers made to be large', () => {
  it('A16 a page of deliveries ends early where their bodies are large, and the pages together have each one', async () => {
    const key = harness.demo.testApiKey;
    // 49 KB each as JSON.
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, '\u0001'.repeat(512)]));
    const receiver = await startReceiver();
    for (let nth = 0; nth < 12; nth += 1) {
      const made = await harness.create({ phone: '+15005550001', webhookUrl: receiver.url, metadata }, { key });
      expect(made.status).toBe(200);
    }
    await until('the deliveries have their bodies', 20_000, async () => {
      const [row] = await harness.database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM deliveries WHERE octet_length(body_sealed) > 40000',
      );
      return row?.count === 12;
    }).finally(() => receiver.close());
    const target = `${DELIVERIES}?limit=100`;
    const ids: string[] = [];
    let more = true;
    for (let page = 0; more && page < 12; page += 1) {
      const last = ids.at(-1);
      const answer = await harness.call(last === undefined ? target : `${target}&startingAfter=${last}`, { key });
      expect(answer.text.length).toBeLessThan(400_000);
      ids.push(...deliveriesOf(answer).map(({ id }) => id));
      more = answer.json['hasMore'] === true;
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(12);
    const one = await harness.call(`${DELIVERIES}?limit=1`, { key });
    expect([deliveriesOf(one).map(({ id }) => id), one.json['hasMore']]).toEqual([ids.slice(0, 1), true]);
  });
});

describe('A26 finding out which resources exist', () => {
  it('A26 ids are not counted up: 80 bits of two that follow each other have nothing in common', async () => {
    const ids = await Promise.all(Array.from({ length: 200 }, () => created()));
    const tails = ids.map((id) => id.slice(-16));
    expect(new Set(tails).size).toBe(ids.length);
    const shared = (at: number): number => {
      const [one = '', other = ''] = [tails[at], tails[at + 1]];
      return Array.from(one).filter((digit, place) => digit === other[place]).length;
    };
    // Of 16 characters out of 32, 8 agree by chance once in 100 million.
    for (let at = 0; at + 1 < tails.length; at += 1) expect(shared(at)).toBeLessThan(8);
  });

  it('A26 a create says nothing of other sessions of the phone, of other accounts or of their brands', async () => {
    const phone = '+12125550188';
    const first = await harness.create({ phone });
    expect((await harness.call(`/v1/verify/${String(first.json['id'])}`, { method: 'DELETE' })).status).toBe(204);
    const second = await harness.create({ phone });
    const shape = ({ json }: Answer): string[] => Object.keys(json);
    expect([second.status, shape(second), second.json['status']]).toEqual([200, shape(first), 'pending']);
    const [foreign, unknown] = await Promise.all(
      [harness.demo.brandId, 'brd_00000000000000000000000000'].map((brandId) =>
        harness.create({ accountId: stranger.accountId, brandId }, { key: stranger.key }),
      ),
    );
    expect(foreign === undefined || unknown === undefined).toBe(false);
    if (foreign !== undefined && unknown !== undefined) expect(seen(foreign)).toEqual(seen(unknown));
  });
});

describe('A35 abuse of Idempotency-Key', () => {
  it('A35 30 retries at the same time make one session; another body, account or mode is not answered with it', async () => {
    const headers = { 'idempotency-key': 'order-7' };
    const before = await harness.countSessions();
    const answers = await Promise.all(Array.from({ length: 30 }, () => harness.create({}, { headers })));
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ json }) => json['id']));
    expect(ids.size).toBe(1);
    expect(new Set(answers.map(({ code }) => code ?? 'OK'))).toEqual(
      new Set(answers.some(({ status }) => status === 409) ? ['OK', 'IDEMPOTENCY_IN_PROGRESS'] : ['OK']),
    );
    expect(await harness.countSessions()).toBe(before + 1);
    expect((await harness.create({ ttl: 60 }, { headers })).code).toBe('IDEMPOTENCY_KEY_REUSED');
    const test = await harness.create({}, { headers, key: harness.demo.testApiKey });
    expect(ids.has(test.json['id'])).toBe(false);
    const foreign = await harness.create({}, { headers, key: stranger.key });
    expect(foreign.status).toBe(403);
  });

  it('A35 beyond its quota an account gets no new key stored, and known ones are replayed', async () => {
    const headers = { 'idempotency-key': 'order-8' };
    const first = await harness.create({}, { headers });
    // One key in 64 is counted: those whose digest begins with 0 to 3.
    await harness.database.query(
      `INSERT INTO idempotency_keys (digest, account_id, fingerprint, resource_id, created_at)
        SELECT set_byte(sha256(n::text::bytea), 0, n % 4), $1, '', gen_random_uuid(), clock_timestamp()
        FROM generate_series(1, $2) AS n`,
      [parseId('acct', harness.demo.accountId), Math.ceil(10_000 / 64)],
    );
    const { baseUrl, stop } = await harness.neighbour({ IDEMPOTENCY_KEYS_PER_ACCOUNT: '10000' });
    const before = await stored();
    try {
      const create = (key: string, call: Call = {}): Promise<Answer> =>
        harness.create({}, { baseUrl, headers: { 'idempotency-key': key }, ...call });
      for (const answer of await Promise.all(Array.from({ length: 20 }, (_, at) => create(`new-${at}`)))) {
        expect([answer.status, answer.code]).toEqual([429, 'RATE_LIMITED']);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
      const again = await create('order-8');
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
      expect(await stored()).toEqual(before);
      expect((await create('new', { key: harness.demo.testApiKey })).status).toBe(200);
    } finally {
      await stop();
    }
  });

  /** The numbers of keys and sessions. */
  async function stored(): Promise<readonly number[]> {
    const [row] = await harness.database.query<{ keys: number }>('SELECT count(*)::int AS keys FROM idempotency_keys');
    return [row?.keys ?? 0, await harness.countSessions()];
  }

  it('A35 a key of 256 characters, an empty one and one of control characters are refused', async () => {
    for (const key of ['x'.repeat(256), '', 'ä']) {
      const answer = await harness.create({}, { headers: { 'idempotency-key': key } });
      expect(answer.status, key).toBe(422);
    }
  });
});
