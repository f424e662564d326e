import { AccountStore, type KeyLimits } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { connect } from 'node:tls';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let accounts: AccountStore;
let accountId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  accountId = parseId('acct', harness.demo.accountId) ?? '';
});
afterAll(() => harness.close());

const SESSION = '/v1/verify/sess_00000000000000000000000000';
const OTHER_SESSION = '/v1/verify/sess_00000000000000000000000001';

/** A new key of the demo account, with the default limits unless given. */
const keyWith = async (limits: KeyLimits = {}): Promise<string> =>
  (await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'limited', limits })).key;

const narrowKey = async (): Promise<string> =>
  (await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'narrow', scopes: ['usage'] })).key;

interface Policy {
  readonly quota: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN);

/** The parameters of each policy in a header, by the policy's name. */
function parametersOf(header: string | string[] | undefined): Map<string, Map<string, unknown>> {
  return new Map(
    parseList(String(header)).map((item) => [String(item[0]), new Map(Object.entries(Object.fromEntries(item[1])))]),
  );
}

/** The limits in the headers of an answer; fails when they do not have the contract's form. */
function limitsOf({ headers }: Pick<Answer, 'headers'>): Map<string, Policy> {
  const quotas = parametersOf(headers['ratelimit-policy']);
  const counts = parametersOf(headers['ratelimit']);
  expect([...counts.keys()]).toEqual([...quotas.keys()]);
  const policies = new Map<string, Policy>();
  for (const [name, quota] of quotas) {
    const count = counts.get(name);
    const policy = {
      quota: numberOf(quota.get('q')),
      windowSeconds: numberOf(quota.get('w')),
      remaining: numberOf(count?.get('r')),
      resetSeconds: numberOf(count?.get('t')),
    };
    expect(policy.windowSeconds).toBe(60);
    expect(policy.resetSeconds).toBeGreaterThanOrEqual(1);
    expect(policy.resetSeconds).toBeLessThanOrEqual(60);
    expect(policy.remaining).toBeLessThanOrEqual(policy.quota);
    policies.set(name, policy);
  }
  const nearest = [...policies.values()].reduce((a, b) => (b.remaining < a.remaining ? b : a));
  expect(headers['x-ratelimit-limit']).toBe(String(nearest.quota));
  expect(headers['x-ratelimit-remaining']).toBe(String(nearest.remaining));
  expect(headers['x-ratelimit-reset']).toMatch(/^\d{10}$/);
  const untilReset = Number(headers['x-ratelimit-reset']) - Date.now() / 1000;
  expect(untilReset).toBeGreaterThan(-5);
  expect(untilReset).toBeLessThanOrEqual(nearest.resetSeconds + 1);
  return policies;
}

const namesOf = (answer: Pick<Answer, 'headers'>): string[] => [...limitsOf(answer).keys()];
const remainingOf = (answer: Answer, name: string): number | undefined => limitsOf(answer).get(name)?.remaining;

function expectLimited(answer: Answer, name: string): void {
  expect([answer.status, answer.code]).toEqual([429, 'RATE_LIMITED']);
  const retryAfter = String(answer.headers['retry-after']);
  expect(retryAfter).toMatch(/^[1-9]\d*$/);
  const exhausted = limitsOf(answer).get(name);
  expect(exhausted?.remaining).toBe(0);
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(exhausted?.resetSeconds ?? Number.NaN);
}

describe('every answer says how its limits stand', () => {
  const large = 'x'.repeat(128 * 1024 + 1);
  it.each<[string, number, string[], (key: string) => Promise<Answer>]>([
    ['a create', 200, ['default', 'create'], (key) => harness.create({}, { key })],
    ['an unknown session', 404, ['default', 'poll'], (key) => harness.call(SESSION, { key })],
    ['a cancel of nothing', 404, ['default'], (key) => harness.call(SESSION, { key, method: 'DELETE' })],
    ['a missing key', 401, ['ip'], () => harness.call(SESSION, { key: null })],
    [
      'a key without the scope',
      403,
      ['default', 'poll'],
      async () => harness.call(SESSION, { key: await narrowKey() }),
    ],
    ['an unknown route', 404, ['default'], (key) => harness.call('/v1/nothing', { key })],
    ['an address that cannot be read', 404, ['default'], (key) => harness.call('/v1/verify/%E0%A4%A', { key })],
    ['an unknown method', 405, ['default'], (key) => harness.call('/v1/verify', { key, method: 'PUT' })],
    ['a body too large', 413, ['default', 'create'], (key) => harness.create({}, { key, body: large })],
    [
      'another media type',
      415,
      ['default', 'create'],
      (key) => harness.create({}, { key, headers: { 'content-type': 'text/plain' } }),
    ],
    ['a broken body', 400, ['default', 'create'], (key) => harness.create({}, { key, body: '{' })],
    ['a refused field', 422, ['default', 'create'], (key) => harness.create({ phone: '1' }, { key })],
    ['a route outside /v1', 404, ['ip'], () => harness.call('/elsewhere', { key: null })],
    ['a page that is not there', 404, ['ip'], () => harness.call('/docs/errors/NO_SUCH_CODE', { key: null })],
  ])('%s', async (_what, status, names, ask) => {
    const answer = await ask(await keyWith());
    expect(answer.status).toBe(status);
    expect(namesOf(answer)).toEqual(names);
  });

  it('a session that is polled and one that is cancelled', async () => {
    const key = await keyWith();
    const { id } = (await harness.create({}, { key })).json;
    expect(namesOf(await harness.call(`/v1/verify/${String(id)}`, { key }))).toEqual(['default', 'poll']);
    const cancelled = await harness.call(`/v1/verify/${String(id)}`, { key, method: 'DELETE' });
    expect([cancelled.status, namesOf(cancelled)]).toEqual([204, ['default']]);
  });

  it('a key without requests', async () => {
    const response = await new Promise<string>((resolve, reject) => {
      const port = Number(harness.environment['CONTROL_PLANE_PORT']);
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () =>
        socket.write('hello\r\n\r\n'),
      );
      let text = '';
      socket.setEncoding('utf8').on('data', (data: string) => (text += data));
      socket.on('close', () => resolve(text)).on('error', reject);
    });
    const [, ...lines] = (response.split('\r\n\r\n')[0] ?? '').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    expect(namesOf({ headers })).toEqual(['ip']);
  });

  it('except for the public pages, which have none', async () => {
    for (const target of ['/docs', '/docs/errors/RATE_LIMITED', '/v1/openapi.json']) {
      const { status, headers } = await harness.call(target, { key: null });
      expect(status).toBe(200);
      expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    }
  });
});

describe('the policies', () => {
  it('are default 600, create 300 and poll 60 a minute for a key that was given none', async () => {
    const key = await keyWith();
    const quotas = [
      ...limitsOf(await harness.create({}, { key })),
      ...limitsOf(await harness.call(SESSION, { key })),
    ].map(([name, { quota }]) => [name, quota]);
    expect(Object.fromEntries(quotas)).toEqual({ default: 600, create: 300, poll: 60 });
  });

  it('are a key’s own where an engineer has set them', async () => {
    const key = await keyWith({ create: 12, poll: 5 });
    expect(limitsOf(await harness.create({}, { key })).get('create')?.quota).toBe(12);
    expect(limitsOf(await harness.call(SESSION, { key })).get('poll')?.quota).toBe(5);
    expect(limitsOf(await harness.call(SESSION, { key })).get('default')?.quota).toBe(600);
  });

  it('that an engineer changes are in effect within 5 s', async () => {
    const key = await keyWith({ default: 100 });
    const quota = async () => limitsOf(await harness.call(SESSION, { key, method: 'DELETE' })).get('default')?.quota;
    expect(await quota()).toBe(100);
    await harness.database.query(`UPDATE api_keys SET limits = '{"default": 200}' WHERE digest = $1`, [
      harness.keys.digest('api-key', key),
    ]);
    await expect.poll(quota, { timeout: 5_000, interval: 250 }).toBe(200);
  });

  it('are default 6,000 a minute for the admin key', async () => {
    const key = harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';
    const policies = limitsOf(await harness.call('/v1/nothing', { key }));
    expect([...policies.keys()]).toEqual(['default']);
    expect(policies.get('default')?.quota).toBe(6_000);
  });

  it('of the quickstart key are a thousand times the usual ones', async () => {
    const quotas = [...limitsOf(await harness.create())].map(([name, { quota }]) => [name, quota]);
    expect(Object.fromEntries(quotas)).toEqual({ default: 600_000, create: 300_000 });
  });
});

describe('an exhausted quota', () => {
  it('of creates refuses creates, stores nothing and leaves the rest alone', async () => {
    const key = await keyWith({ create: 2 });
    for (const left of [1, 0]) {
      const answer = await harness.create({}, { key });
      expect([answer.status, remainingOf(answer, 'create')]).toEqual([200, left]);
    }
    const before = await harness.countSessions();
    const refused = await harness.create({}, { key });
    expectLimited(refused, 'create');
    expect(refused.json['id']).toBeUndefined();
    expect(await harness.countSessions()).toBe(before);
    expect((await harness.call(SESSION, { key })).status).toBe(404);
  });

  it('of polls is per session', async () => {
    const key = await keyWith({ poll: 2 });
    for (const status of [404, 404]) expect((await harness.call(SESSION, { key })).status).toBe(status);
    expectLimited(await harness.call(SESSION, { key }), 'poll');
    expect((await harness.call(OTHER_SESSION, { key })).status).toBe(404);
    expect((await harness.call(SESSION, { key, method: 'DELETE' })).status).toBe(404);
    expect((await harness.call(SESSION, { key: await keyWith({ poll: 2 }) })).status).toBe(404);
  });

  it('of default counts every request with the key, refused ones and unknown routes too', async () => {
    const key = await keyWith({ default: 5 });
    const left = [];
    for (const ask of [
      () => harness.create({}, { key, body: '{' }),
      () => harness.call('/v1/nothing', { key }),
      () => harness.call('/v1/verify', { key, method: 'PUT' }),
      () => harness.call('/v1/admin/accounts', { key }),
      () => harness.call(SESSION, { key, method: 'DELETE' }),
    ]) {
      left.push(remainingOf(await ask(), 'default'));
    }
    expect(left).toEqual([4, 3, 2, 1, 0]);
    for (const target of [SESSION, '/v1/nothing', '/v1/admin/accounts']) {
      expectLimited(await harness.call(target, { key }), 'default');
    }
    expectLimited(await harness.create({}, { key, body: '{' }), 'default');
  });

  it('comes after the key and before the body', async () => {
    const key = await keyWith({ default: 1 });
    await harness.call(SESSION, { key });
    expect((await harness.create({}, { key: `${key}x`, body: '{' })).status).toBe(401);
    for (const body of ['{', 'x'.repeat(130 * 1024), { nothing: true }]) {
      expectLimited(await harness.create({}, { key, body }), 'default');
    }
  });

  it('accepts exactly the limit of concurrent requests', async () => {
    const key = await keyWith({ create: 10 });
    const before = await harness.countSessions();
    const answers = await Promise.all(Array.from({ length: 40 }, () => harness.create({}, { key })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    expect(await harness.countSessions()).toBe(before + 10);
  });

  it('is separate for each key', async () => {
    const [one, other] = [await keyWith({ default: 1 }), await keyWith({ default: 1 })];
    await harness.call(SESSION, { key: one });
    expectLimited(await harness.call(SESSION, { key: one }), 'default');
    expect((await harness.call(SESSION, { key: other })).status).toBe(404);
  });
});

describe('one phone', () => {
  it('has a limit of live sessions at an account, whose refusal has the time of the first end', async () => {
    const { baseUrl, stop } = await harness.neighbour({ LIVE_SESSIONS_PER_PHONE: '3' });
    const create = (changes: Readonly<Record<string, unknown>> = {}, call: object = {}): Promise<Answer> =>
      harness.create(changes, { baseUrl, ...call });
    try {
      // A refused create opens no session, and an early end does not restore the quota.
      expect((await create({ brandId: 'brd_00000000000000000000000000' })).code).toBe('INVALID_BRAND');
      const opened = [await create({ ttl: 60 }), await create({ ttl: 300 }), await create({ ttl: 300 })];
      expect(opened.map(({ status }) => status)).toEqual([200, 200, 200]);
      await harness.call(`/v1/verify/${String(opened[0]?.json['id'])}`, { method: 'DELETE', baseUrl });
      const refused = await create();
      expect([refused.status, refused.code]).toEqual([429, 'RATE_LIMITED']);
      expect(refused.text).toContain('This phone has 3 sessions whose time is not over');
      const retryAfter = Number(refused.headers['retry-after']);
      expect(retryAfter).toBeGreaterThan(0);
      expect(retryAfter).toBeLessThanOrEqual(60);
      expect((await create({ phone: '+14155552672' })).status).toBe(200);
      for (let n = 0; n < 4; n += 1) expect((await create({}, { key: harness.demo.testApiKey })).status).toBe(200);
    } finally {
      await stop();
    }
  });
});
