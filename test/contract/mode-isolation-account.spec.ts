import { SCOPES } from '@countersign/accounts/accounts';
import { MODES, type Mode } from '@countersign/keys';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

/** `/v1/account` with keys of one mode, against keys, secrets and settings of the other (contract, Authentication). */

const LIVE_URL = 'https://acme.example/live';
const UNKNOWN_KEY = 'key_00000000000000000000000000';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
/** Keys with every scope. */
let keys: Readonly<Record<Mode, { readonly id: string; readonly key: string }>>;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  keys = { live: await newKey('live'), test: await newKey('test') };
  expect((await admin.patch(`accounts/${harness.demo.accountId}`, { defaultWebhookUrl: LIVE_URL })).status).toBe(200);
});
afterAll(() => harness.close());

async function newKey(kind: Mode): Promise<{ readonly id: string; readonly key: string }> {
  const { accountId } = harness.demo;
  const { json } = await admin.post('keys', { accountId, kind, name: 'developer', scopes: SCOPES });
  return { id: String(json['id']), key: String(json['key']) };
}

const other = (mode: Mode): Mode => (mode === 'live' ? 'test' : 'live');

/** The parts of an answer that a caller can compare. */
function seen({ status, text, headers }: Answer): object {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  const steady = Object.entries(rest).filter(([name]) => !/ratelimit|retry-after/i.test(name));
  return { status, text, headers: Object.fromEntries(steady) };
}

interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
}

async function routes(): Promise<Route[]> {
  const { json } = await harness.call('/v1/openapi.json', { key: null });
  return Object.entries(json['paths'] as Record<string, object>)
    .filter(([path]) => /^\/v1\/account(?:\/|$)/.test(path))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => ({ method: method.toUpperCase() as Route['method'], path })),
    );
}

/** The expected answers by route; a route that is missing here fails the test. */
const WALK: Readonly<Record<string, (owner: Mode, route: Route) => Promise<void>>> = {
  'GET /v1/account': showsItsOwnKey,
  'GET /v1/account/webhook': showsTestWebhookAlone,
  'PATCH /v1/account/webhook': changesTestWebhookAlone,
  'POST /v1/account/webhook/secret/rotate': rotatesApart,
  'GET /v1/account/keys': listsKeysApart,
  'POST /v1/account/keys': createsKeysApart,
  'GET /v1/account/keys/{id}': keyIsUnknown,
  'POST /v1/account/keys/{id}/rotate': keyIsUnknown,
  'POST /v1/account/keys/{id}/revoke': keyIsUnknown,
  'GET /v1/account/brands': showsBrands,
  'GET /v1/account/brands/{id}': showsBrands,
  'PATCH /v1/account/brands/{id}': changesBrandsLive,
  'GET /v1/account/requests': listsRequestsApart,
};

async function showsItsOwnKey(owner: Mode): Promise<void> {
  const { json } = await harness.call('/v1/account', { key: keys[owner].key });
  expect(json['key']).toMatchObject({ kind: owner, id: keys[owner].id });
}

async function showsTestWebhookAlone(owner: Mode): Promise<void> {
  const { text } = await harness.call('/v1/account/webhook', { key: keys[owner].key });
  expect(text.includes(LIVE_URL)).toBe(owner === 'live');
}

async function changesTestWebhookAlone(owner: Mode): Promise<void> {
  const call = { method: 'PATCH', key: keys[owner].key, body: { defaultWebhookUrl: LIVE_URL } } as const;
  expect((await harness.call('/v1/account/webhook', call)).status).toBe(owner === 'live' ? 200 : 403);
}

const secretColumns = (mode: Mode): Promise<object[]> =>
  harness.database.query(
    mode === 'live'
      ? 'SELECT webhook_secret_sealed, previous_webhook_secrets_sealed FROM accounts'
      : 'SELECT test_webhook_secret_sealed, previous_test_webhook_secrets_sealed FROM accounts',
  );

async function rotatesApart(owner: Mode, { path }: Route): Promise<void> {
  const [own, theirs] = [await secretColumns(owner), await secretColumns(other(owner))];
  expect((await harness.call(path, { method: 'POST', key: keys[owner].key })).status).toBe(200);
  expect(await secretColumns(owner)).not.toEqual(own);
  expect(await secretColumns(other(owner))).toEqual(theirs);
}

async function listsKeysApart(owner: Mode): Promise<void> {
  const listed = dataOf(await harness.call('/v1/account/keys?limit=100', { key: keys[owner].key }));
  expect(new Set(listed.map(({ kind }) => kind))).toEqual(new Set([owner]));
}

async function createsKeysApart(owner: Mode): Promise<void> {
  const call = { method: 'POST', key: keys[owner].key, body: { name: 'apart' } } as const;
  const { json } = await harness.call('/v1/account/keys', call);
  expect(json).toMatchObject({ kind: owner, key: expect.stringMatching(`^csk_${owner}_`) as string });
}

async function keyIsUnknown(owner: Mode, { method, path }: Route): Promise<void> {
  const { id } = keys[owner];
  const row = (): Promise<object[]> =>
    harness.database.query('SELECT digest, revoked_at FROM api_keys WHERE id = $1', [parseId('key', id)]);
  const before = await row();
  const call = { method, key: keys[other(owner)].key };
  const foreign = await harness.call(path.replace('{id}', id), call);
  expect(foreign).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect(seen(foreign)).toEqual(seen(await harness.call(path.replace('{id}', UNKNOWN_KEY), call)));
  expect(await row()).toEqual(before);
}

async function listsRequestsApart(owner: Mode): Promise<void> {
  const { headers } = await harness.call('/v1/verify/x', { key: keys[owner].key });
  const listedBy = async (mode: Mode): Promise<unknown[]> =>
    dataOf(await harness.call('/v1/account/requests?limit=100', { key: keys[mode].key })).map(({ id }) => id);
  await until('it is listed', 10_000, async () => (await listedBy(owner)).includes(headers['x-request-id']));
  expect(await listedBy(other(owner))).not.toContain(headers['x-request-id']);
}

/** Brands have no mode. */
async function showsBrands(owner: Mode, { path }: Route): Promise<void> {
  const target = path.replace('{id}', harness.demo.brandId);
  expect((await harness.call(target, { key: keys[owner].key })).status).toBe(200);
}

async function changesBrandsLive(owner: Mode, { path }: Route): Promise<void> {
  const target = path.replace('{id}', harness.demo.brandId);
  const call = { method: 'PATCH', key: keys[owner].key, body: { instruction: 'Send this.' } } as const;
  expect((await harness.call(target, call)).status).toBe(owner === 'live' ? 200 : 403);
}

describe('a key of the other mode', () => {
  it('is tried on every route of /v1/account', async () => {
    const names = (await routes()).map(({ method, path }) => `${method} ${path}`);
    expect(names.sort()).toEqual(Object.keys(WALK).sort());
  });

  describe.each(MODES)('than %s', (owner) => {
    it.each(Object.keys(WALK))('%s', async (name) => {
      const [method = '', path = ''] = name.split(' ');
      await WALK[name]?.(owner, { method: method as Route['method'], path });
    });
  });
});
