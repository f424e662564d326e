import { AccountStore, DEFAULT_SCOPES, type Scope } from '@countersign/accounts/accounts';
import { parseId, renderId } from '@countersign/ids';
import type { Mode } from '@countersign/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { PhoneMembers } from '../support/phone-sign-in.js';
import { until } from '../support/until.js';

const WITHIN_MS = 10_000;
const EVERY: readonly Scope[] = [...DEFAULT_SCOPES, 'account'];

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let live: string;
let test: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  live = await keyWith({ scopes: EVERY });
  test = await keyWith({ scopes: EVERY, kind: 'test' });
});
afterAll(() => harness.close());

async function keyWith(draft: {
  readonly scopes: readonly Scope[];
  readonly kind?: Mode;
  readonly limits?: Readonly<Record<string, number>>;
}): Promise<string> {
  const { status, json } = await admin.post('keys', {
    ...{ accountId: harness.demo.accountId, name: 'developer', limits: { default: 100_000 } },
    ...draft,
  });
  expect(status).toBe(201);
  return String(json['key']);
}

const get = (path: string, key = live): Promise<Answer> => harness.call(`/v1/account${path}`, { key });
const post = (path: string, body?: unknown, key = live): Promise<Answer> =>
  harness.call(`/v1/account${path}`, { method: 'POST', key, body });
const patch = (path: string, body: unknown, key = live): Promise<Answer> =>
  harness.call(`/v1/account${path}`, { method: 'PATCH', key, body });
const refusal = ({ status, code, field }: Answer): unknown[] => [status, code, field];

/** Another account with a brand and keys. */
async function stranger(): Promise<{ readonly brandId: string; readonly keyId: string }> {
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
  const { id } = await accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'k' });
  const brand = await admin.post('brands', {
    ...{ accountId: renderId('acct', account.id), name: 'Other', slug: 'OTHER', instruction: 'Send this.' },
  });
  return { brandId: String(brand.json['id']), keyId: renderId('key', id) };
}

describe('the scope account', () => {
  it('is needed for every call, and no key has it by default', async () => {
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const paths = Object.entries(json['paths'] as Record<string, object>).filter(([path]) =>
      path.startsWith('/v1/account'),
    );
    expect(paths.length).toBeGreaterThan(7);
    const usual = await admin.post('keys', { accountId: harness.demo.accountId, name: 'usual' });
    expect(usual.json['scopes']).toEqual(DEFAULT_SCOPES);
    for (const [path, operations] of paths)
      for (const method of Object.keys(operations)) {
        const answer = await harness.call(path.replace('{id}', 'x'), {
          method: method.toUpperCase() as 'GET',
          key: String(usual.json['key']),
          ...(method === 'get' ? {} : { body: {} }),
        });
        expect([path, method, answer.code]).toEqual([path, method, 'FORBIDDEN']);
      }
    expect((await get('', admin.key)).code).toBe('FORBIDDEN');
  });
});

describe('GET /v1/account', () => {
  it('shows the account, and the key of the call', async () => {
    expect((await get('')).json).toMatchObject({
      id: harness.demo.accountId,
      name: 'Acme Inc.',
      otpCountries: ['*'],
      key: { kind: 'live', scopes: EVERY, limits: { default: 100_000 } },
    });
    expect((await get('', test)).json).toMatchObject({ id: harness.demo.accountId, key: { kind: 'test' } });
  });
});

describe('the keys of an account', () => {
  it('are made with the mode, the limits and at most the scopes of the caller’s key, shown once and audited', async () => {
    const made = await post('/keys', { name: 'ci', scopes: ['verify'] }, test);
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ kind: 'test', scopes: ['verify'], limits: { default: 100_000 }, name: 'ci' });
    const key = String(made.json['key']);
    expect(key).toMatch(/^csk_test_/);
    expect((await harness.call('/v1/verify', { key })).status).toBe(200);
    expect((await harness.call('/v1/usage', { key })).code).toBe('FORBIDDEN');
    const shown = await get(`/keys/${String(made.json['id'])}`, test);
    expect(shown.json).not.toHaveProperty('key');
    const [note] = await admin.notes(made.json['id']);
    expect(note).toMatchObject({ action: 'create', resource: 'keys', actor: expect.stringMatching(/^key_/) as string });
    expect(await admin.log()).not.toContain(key);
    expect((await post('/keys', { name: 'usual' })).json['scopes']).toEqual(DEFAULT_SCOPES);
  });

  it('never get a scope that the caller’s key lacks', async () => {
    const narrow = await keyWith({ scopes: ['account', 'usage'] });
    expect(refusal(await post('/keys', { name: 'x', scopes: ['verify'] }, narrow)).slice(0, 2)).toEqual([
      403,
      'FORBIDDEN',
    ]);
    expect((await post('/keys', { name: 'x' }, narrow)).json['scopes']).toEqual(['usage']);
    expect((await post('/keys', { name: 'x', scopes: ['account'] }, narrow)).status).toBe(201);
    expect(refusal(await post('/keys', { name: 'x', scopes: ['admin'] }, narrow))).toEqual([
      422,
      'VALIDATION_ERROR',
      'scopes',
    ]);
    const bare = await keyWith({ scopes: ['account'] });
    expect(refusal(await post('/keys', { name: 'x' }, bare))).toEqual([422, 'VALIDATION_ERROR', 'scopes']);
    const wide = String((await post('/keys', { name: 'wide' })).json['id']);
    expect((await post(`/keys/${wide}/rotate`, undefined, narrow)).code).toBe('FORBIDDEN');
    for (const extra of [{ kind: 'live' }, { limits: { default: 1 } }, { accountId: harness.demo.accountId }])
      expect((await post('/keys', { name: 'x', ...extra }, narrow)).code).toBe('VALIDATION_ERROR');
  });

  it('never show the text of a key with a limit that the caller’s lacks', async () => {
    const idWith = async (limits: Record<string, number>): Promise<string> => {
      const { json } = await admin.post('keys', { accountId: harness.demo.accountId, name: 'l', limits });
      return String(json['id']);
    };
    const low = await keyWith({ scopes: EVERY, limits: { default: 60, poll: 100 } });
    const usual = await keyWith({ scopes: EVERY, limits: {} });
    const rotate = async (id: string, key: string): Promise<unknown[]> => {
      const { status, code, json } = await post(`/keys/${id}/rotate`, undefined, key);
      return [status, code, /limit (\w+)/.exec(JSON.stringify(json))?.[1]];
    };
    expect(await rotate(await idWith({ default: 61 }), low)).toEqual([403, 'FORBIDDEN', 'default']);
    expect(await rotate(await idWith({}), low)).toEqual([403, 'FORBIDDEN', 'default']);
    expect(await rotate(await idWith({ default: 60, usage: 61 }), low)).toEqual([403, 'FORBIDDEN', 'usage']);
    expect(await rotate(await idWith({ default: 601 }), usual)).toEqual([403, 'FORBIDDEN', 'default']);
    expect((await rotate(await idWith({ default: 60, poll: 100 }), low))[0]).toBe(202);
    expect((await rotate(await idWith({ default: 1 }), low))[0]).toBe(202);
    expect((await rotate(await idWith({ create: 300 }), usual))[0]).toBe(202);
    const own = await post('/keys', { name: 'n', scopes: ['verify'] }, low);
    expect(own.json['limits']).toEqual({ default: 60, poll: 100 });
    expect((await rotate(String(own.json['id']), low))[0]).toBe(202);
  });

  it('use the quota of the key that made them, until an operator gives them limits of their own', async () => {
    const first = await keyWith({ scopes: ['account', 'verify'], limits: { default: 100 } });
    const second = await post('/keys', { name: 's', scopes: ['account', 'verify'] }, first);
    const third = await post('/keys', { name: 't', scopes: ['verify'] }, String(second.json['key']));
    const keys = [first, String(second.json['key']), String(third.json['key'])];
    const remaining = async (key: string | undefined): Promise<number> =>
      Number((await harness.call('/v1/verify', { key: String(key) })).headers['x-ratelimit-remaining']);
    // Two requests were counted: those that made the keys.
    for (const [at, key] of keys.entries()) expect(await remaining(key)).toBe(97 - at);
    const own = await admin.patch(`keys/${String(third.json['id'])}`, { limits: { default: 100 } });
    expect(own.status).toBe(200);
    await until('its quota is its own', 5_000, async () => (await remaining(keys[2])) > 97);
    expect(await remaining(first)).toBeLessThan(95);
  });

  it('have no limit above that of the key whose quota they use, also when an operator lowers it', async () => {
    const first = await admin.post('keys', {
      ...{ accountId: harness.demo.accountId, name: 'f', scopes: ['account', 'verify'], limits: { default: 90 } },
    });
    const second = await post('/keys', { name: 's', scopes: ['verify'] }, String(first.json['key']));
    const limitOf = async (): Promise<unknown> =>
      (await harness.call('/v1/verify', { key: String(second.json['key']) })).headers['ratelimit-policy'];
    expect(await limitOf()).toBe('"default";q=90;w=60');
    await admin.patch(`keys/${String(first.json['id'])}`, { limits: { default: 30 } });
    await until('the limit is lower', 5_000, async () => (await limitOf()) === '"default";q=30;w=60');
    const { browser } = await new PhoneMembers(harness).signedIn();
    const confirmed = await browser.call('sessions/current/confirm', {
      ...{ method: 'POST', body: { key: second.json['key'] } },
    });
    expect(confirmed.status).toBe(200);
    const ofMember = await browser.call('v1/account/keys', { method: 'POST', body: { name: 'm', scopes: ['verify'] } });
    expect([ofMember.status, ofMember.json['limits']]).toEqual([201, { default: 30 }]);
  });

  it('have, when members make them, no limit above what the keys of the account may use', async () => {
    const { json } = await admin.post('accounts', { name: 'Lowered' });
    const draft = { accountId: json['id'], kind: 'test', name: 'f', scopes: EVERY, limits: { default: 90 } };
    const first = await admin.post('keys', draft);
    await post('/keys', { name: 's', scopes: ['verify'] }, String(first.json['key']));
    await admin.patch(`keys/${String(first.json['id'])}`, { limits: { default: 30 } });
    const { browser } = await new PhoneMembers(harness, 4_000).signedIn('developer', String(json['id']));
    const headers = { 'countersign-mode': 'test' };
    const made = await browser.call('v1/account/keys', { method: 'POST', body: { name: 'm' }, headers });
    expect([made.status, made.json['limits']]).toEqual([201, { default: 30 }]);
  });

  it('are not rotated by a member in test mode when they have more than keys of members have', async () => {
    const { browser } = await new PhoneMembers(harness, 5_000).signedIn();
    const rotate = async (limits: Readonly<Record<string, number>>): Promise<unknown[]> => {
      const draft = { accountId: harness.demo.accountId, name: 'l', kind: 'test', limits };
      const { json } = await admin.post('keys', draft);
      const headers = { 'countersign-mode': 'test' };
      const answer = await browser.call(`v1/account/keys/${String(json['id'])}/rotate`, { method: 'POST', headers });
      return [answer.status, answer.code];
    };
    expect(await rotate({ default: 601 })).toEqual([403, 'FORBIDDEN']);
    expect(await rotate({})).toEqual([202, undefined]);
  });

  it('are rotated and revoked', async () => {
    const made = await post('/keys', { name: 'r', scopes: ['verify'] });
    const id = String(made.json['id']);
    const rotated = await post(`/keys/${id}/rotate`);
    expect([rotated.status, rotated.json['id']]).toEqual([202, id]);
    const newKey = String(rotated.json['key']);
    expect(newKey).not.toBe(made.json['key']);
    expect((await harness.call('/v1/verify', { key: newKey })).status).toBe(200);
    const revoked = await post(`/keys/${id}/revoke`);
    expect(revoked.json['revokedAt']).not.toBeNull();
    await until(
      'the key ends',
      WITHIN_MS,
      async () => (await harness.call('/v1/verify', { key: newKey })).status === 401,
    );
    expect((await post(`/keys/${id}/rotate`)).code).toBe('CONFLICT');
    expect((await post(`/keys/${id}/revoke`)).json['revokedAt']).toEqual(revoked.json['revokedAt']);
  });

  it('are those of the account and the mode alone', async () => {
    const { keyId } = await stranger();
    const ofTest = String((await post('/keys', { name: 't' }, test)).json['id']);
    const kinds = dataOf(await get('/keys?limit=100')).map(({ kind, accountId }) => [kind, accountId]);
    expect(new Set(kinds.map(String))).toEqual(new Set([`live,${harness.demo.accountId}`]));
    const before = await harness.database.query('SELECT id, digest, revoked_at FROM api_keys ORDER BY id');
    for (const id of [keyId, ofTest, 'key_01HF7YAT000000000000000009', 'x'])
      for (const answer of [
        await get(`/keys/${id}`),
        await post(`/keys/${id}/rotate`),
        await post(`/keys/${id}/revoke`),
      ])
        expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(await harness.database.query('SELECT id, digest, revoked_at FROM api_keys ORDER BY id')).toEqual(before);
  });

  it('are listed page by page, as CSV too', async () => {
    const all = dataOf(await get('/keys?limit=100')).map(({ id }) => id);
    const first = await get('/keys?limit=1');
    expect(first.json['hasMore']).toBe(true);
    const second = await get(`/keys?limit=1&startingAfter=${String(all[0])}`);
    expect([...dataOf(first), ...dataOf(second)].map(({ id }) => id)).toEqual(all.slice(0, 2));
    const csv = await get('/keys?limit=100&format=csv');
    expect(
      csv.text
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0]),
    ).toEqual(all);
  });

  it('are a hundred at most, also when made at the same time', async () => {
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const { account } = await accounts.createAccount(harness.database, { name: 'Many keys' });
    const draft = { accountId: account.id, kind: 'live', name: 'k', limits: { default: 10_000 } } as const;
    const { key } = await accounts.createApiKey(harness.database, { ...draft, scopes: ['account', 'verify'] });
    for (let made = 1; made < 97; made += 1) await accounts.createApiKey(harness.database, draft);
    const answers = await Promise.all(Array.from({ length: 8 }, () => post('/keys', { name: 'n' }, key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  });
});

describe('the webhook of an account', () => {
  it('is shown and changed; a test key concerns test events alone', async () => {
    const urls = { defaultWebhookUrl: 'https://acme.example/live', testWebhookUrl: 'https://acme.example/test' };
    const webhookEvents = ['verification.denied'];
    expect((await patch('/webhook', { ...urls, webhookEvents })).json).toEqual({ ...urls, webhookEvents });
    expect((await get('/webhook')).json).toEqual({ ...urls, webhookEvents });
    const { testWebhookUrl } = urls;
    expect((await get('/webhook', test)).json).toEqual({ testWebhookUrl, webhookEvents });
    expect((await patch('/webhook', { testWebhookUrl: null }, test)).json).toEqual({
      testWebhookUrl: null,
      webhookEvents,
    });
    for (const change of [{ defaultWebhookUrl: null }, { webhookEvents: [] }])
      expect((await patch('/webhook', change, test)).code).toBe('FORBIDDEN');
    expect((await admin.get(`accounts/${harness.demo.accountId}`)).json).toMatchObject({
      ...{ defaultWebhookUrl: urls.defaultWebhookUrl, testWebhookUrl: null, webhookEvents },
    });
    expect((await admin.notes(harness.demo.accountId)).at(-1)).toMatchObject({
      ...{ action: 'update', resource: 'accounts', actor: expect.stringMatching(/^key_/) as string },
    });
  });

  it('refuses other fields, unknown events and private targets', async () => {
    expect(refusal(await patch('/webhook', { defaultWebhookUrl: 'http://169.254.169.254/' }))).toEqual([
      ...[422, 'INVALID_WEBHOOK_URL', 'defaultWebhookUrl'],
    ]);
    expect(refusal(await patch('/webhook', { webhookEvents: ['x'] }))).toEqual([
      422,
      'VALIDATION_ERROR',
      'webhookEvents',
    ]);
    for (const field of ['name', 'otpCountries', 'otpDailyMessageCap', 'otpUnconvertedFloor', 'active'])
      expect(refusal(await patch('/webhook', { [field]: 'x' }))).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('gets another secret, by the mode of the key', async () => {
    const { status, json } = await post('/webhook/secret/rotate');
    expect([status, String(json['secret']).slice(0, 6)]).toEqual([200, 'whsec_']);
    expect((await post('/webhook/secret/rotate', undefined, test)).json['secret']).not.toBe(json['secret']);
    const before = await admin.notes(harness.demo.accountId);
    expect(before.filter(({ resource }) => resource === 'webhook-secrets')).toMatchObject([
      { actor: expect.stringMatching(/^key_/) as string, action: 'rotate', before: null, after: { mode: 'live' } },
      { action: 'rotate', after: { mode: 'test' } },
    ]);
    expect(await admin.log()).not.toContain(json['secret']);
    await harness.call('/v1/webhooks/secret/rotate', { method: 'POST' });
    const after = await admin.notes(harness.demo.accountId);
    expect(after.filter(({ resource }) => resource === 'webhook-secrets')).toHaveLength(3);
  });
});

describe('the brands of an account', () => {
  const brand = (): string => `/brands/${harness.demo.brandId}`;
  const ofAdmin = async (): Promise<Answer['json']> => (await admin.get(`brands/${harness.demo.brandId}`)).json;

  it('change their instruction and logo at once', async () => {
    const texts = { instruction: 'Send this to sign in.', logoUrl: 'https://acme.example/logo.png' };
    const { status, json } = await patch(brand(), texts);
    expect(status).toBe(200);
    expect(json).toMatchObject(texts);
    expect(json).not.toHaveProperty('requested');
    expect(await ofAdmin()).toMatchObject(texts);
  });

  it('get another name or slug when an operator approves it', async () => {
    const before = (await get(brand())).json;
    const { json } = await patch(brand(), { name: 'Acme Bank', slug: 'ACMEBANK' });
    expect(json).toMatchObject({ name: before['name'], slug: before['slug'] });
    expect(json['requested']).toMatchObject({ name: 'Acme Bank', slug: 'ACMEBANK' });
    const { requested } = await ofAdmin();
    const { at } = requested as { at: string };
    await patch(brand(), { name: 'Acme Trust' });
    expect((await admin.post(`brands/${harness.demo.brandId}/approve`, { requestedAt: at })).code).toBe('CONFLICT');
    expect((await get(brand())).json['name']).toBe(before['name']);
    const approved = await admin.post(`brands/${harness.demo.brandId}/approve`);
    expect([approved.status, approved.json['name'], approved.json['slug']]).toEqual([202, 'Acme Trust', 'ACMEBANK']);
    expect((await get(brand())).json).not.toHaveProperty('requested');
    expect((await admin.notes(harness.demo.brandId)).at(-1)).toMatchObject({ action: 'approve', actor: 'root' });
    expect((await admin.post(`brands/${harness.demo.brandId}/approve`)).code).toBe('CONFLICT');
  });

  it('stay as they are when it is refused or withdrawn', async () => {
    const { name } = (await get(brand())).json;
    await patch(brand(), { name: 'Other Bank' });
    const refused = await admin.post(`brands/${harness.demo.brandId}/refuse`);
    expect([refused.status, refused.json['name']]).toEqual([202, name]);
    expect((await get(brand())).json).toMatchObject({ name, requestRefusedAt: expect.any(String) as string });
    expect((await patch(brand(), { name: 'Next Bank' })).json).not.toHaveProperty('requestRefusedAt');
    expect((await patch(brand(), { name })).json).not.toHaveProperty('requested');
    expect((await admin.post(`brands/${harness.demo.brandId}/refuse`)).code).toBe('CONFLICT');
  });

  it('keep what an operator decides', async () => {
    const fields = [
      'senderId',
      'rcsAgentId',
      'rcsNumberMatching',
      'domain',
      'active',
      'accountId',
      'entropyKeyVersion',
    ];
    for (const field of fields)
      expect(refusal(await patch(brand(), { [field]: 'x' }))).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await patch(brand(), { instruction: 'Hello.' }, test)).code).toBe('FORBIDDEN');
    const long = { instruction: 'x'.repeat(155) };
    expect(refusal(await patch(brand(), long))).toEqual([422, 'VALIDATION_ERROR', 'instruction']);
    expect(refusal(await patch(brand(), { name: 'x'.repeat(101) }))).toEqual([422, 'VALIDATION_ERROR', 'name']);
    expect(refusal(await patch(brand(), { slug: 'acme' }))).toEqual([422, 'VALIDATION_ERROR', 'slug']);
  });

  it('refuse a slug that another brand has when it is approved', async () => {
    const [other] = await harness.database.query<{ slug: string }>('SELECT slug FROM brands WHERE id <> $1', [
      parseId('brd', harness.demo.brandId),
    ]);
    await patch(brand(), { slug: other?.slug });
    expect(refusal(await admin.post(`brands/${harness.demo.brandId}/approve`))).toEqual([409, 'CONFLICT', 'slug']);
    expect((await admin.post(`brands/${harness.demo.brandId}/refuse`)).status).toBe(202);
  });

  it('are those of the account alone', async () => {
    const [foreign] = await harness.database.query<{ id: string }>('SELECT id FROM brands WHERE id <> $1', [
      parseId('brd', harness.demo.brandId),
    ]);
    const id = renderId('brd', foreign?.id ?? '');
    expect(dataOf(await get('/brands')).map((each) => each['id'])).toEqual([harness.demo.brandId]);
    for (const answer of [await get(`/brands/${id}`), await patch(`/brands/${id}`, { instruction: 'Hello.' })])
      expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});
