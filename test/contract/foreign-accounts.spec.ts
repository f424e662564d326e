import { AccountStore } from '@countersign/accounts/accounts';
import { parseId, renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, type Answer, type Call } from '../support/control-plane-harness.js';

const UNKNOWN_ID = 'sess_00000000000000000000000000';

let harness: ControlPlaneHarness;
let stranger: { key: string; accountId: string; brandId: string };
let ownTestKey: string;
/** `METHOD path` of every call about one session, from the API description. */
let calls: readonly { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string }[];

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  stranger = await newStranger(accounts);
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  ownTestKey = (await accounts.createApiKey(harness.database, { accountId, kind: 'test', name: 'test' })).key;
  calls = await callsAboutOneSession();
});
afterAll(() => harness.close());

async function newStranger(accounts: AccountStore): Promise<typeof stranger> {
  return harness.database.transaction(async (tx) => {
    const { account } = await accounts.createAccount(tx, { name: 'Stranger', otpCountries: ['*'] });
    const accountId = account.id;
    const brand = await accounts.createBrand(tx, {
      accountId,
      name: 'Stranger',
      slug: 'STRANGER',
      instruction: 'Send this message.',
      entropyKeyVersion: 1,
    });
    const { key } = await accounts.createApiKey(tx, { accountId, kind: 'live', name: 'k' });
    return { key, accountId: renderId('acct', accountId), brandId: renderId('brd', brand.id) };
  });
}

async function callsAboutOneSession(): Promise<typeof calls> {
  const { paths } = (await harness.call('/v1/openapi.json', { key: null })).json as {
    paths: Record<string, Record<string, unknown>>;
  };
  return Object.entries(paths).flatMap(([path, operations]) => {
    if (!path.includes('{sessionId}')) return [];
    const methods = (['GET', 'POST', 'DELETE'] as const).filter((method) => method.toLowerCase() in operations);
    return methods.map((method) => ({ method, path }));
  });
}

function ask({ method, path }: (typeof calls)[number], id: string, call: Call = {}): Promise<Answer> {
  const body = path.endsWith('/check') ? { code: '123456' } : undefined;
  return harness.call(path.replace('{sessionId}', id), { method, ...(body === undefined ? {} : { body }), ...call });
}

/** The parts of an answer that a caller can compare. */
function seen({ status, text, headers }: Answer): object {
  const { date, 'x-request-id': requestId, 'content-length': length, ...rest } = headers;
  expect(date).toBeDefined();
  expect(requestId).toMatch(/^req_/);
  const steady = Object.entries(rest).filter(([name]) => !/ratelimit/i.test(name));
  return { status, text, length, headers: Object.fromEntries(steady) };
}

const rowOf = (id: string): Promise<object[]> =>
  harness.database.query(`SELECT sessions.*, metadata::text AS metadata FROM sessions WHERE id = $1`, [
    parseId('sess', id),
  ]);

async function expire(id: string): Promise<void> {
  await harness.database.query(
    `UPDATE sessions SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
     WHERE id = $1`,
    [parseId('sess', id)],
  );
  await expect
    .poll(async () => (await rowOf(id)).map((row) => 'status' in row && row.status), { timeout: 30_000 })
    .toEqual(['expired']);
}

/** No carrier accepts codes here; those of a test key need none. */
async function sendCode(id: string): Promise<void> {
  const answer = await harness.call(`/v1/verify/${id}/send-sms`, { method: 'POST', key: ownTestKey });
  expect(answer.status).toBe(200);
}

const STATES: readonly [state: string, bring: (id: string) => Promise<unknown>][] = [
  ['pending', () => Promise.resolve()],
  ['pending, with a code on its way', sendCode],
  ['approved', (id) => harness.approve(id)],
  ['cancelled', (id) => harness.call(`/v1/verify/${id}`, { method: 'DELETE', key: ownTestKey })],
  ['expired', expire],
];

describe('another account’s session', () => {
  it('can be asked for in at least these ways', () => {
    const known = calls.map(({ method, path }) => `${method} ${path}`);
    expect(known).toEqual(
      expect.arrayContaining([
        'GET /v1/verify/{sessionId}',
        'DELETE /v1/verify/{sessionId}',
        'POST /v1/verify/{sessionId}/send-sms',
        'POST /v1/verify/{sessionId}/check',
      ]),
    );
  });

  it.each(STATES)('is answered as one that never was, and nothing of it changes: %s', async (_state, bring) => {
    const id = String((await harness.create({ metadata: { secret: 'of the owner' } }, { key: ownTestKey })).json['id']);
    await bring(id);
    const before = await rowOf(id);
    for (const call of calls) {
      const foreign = await ask(call, id, { key: stranger.key });
      const unknown = await ask(call, UNKNOWN_ID, { key: stranger.key });
      expect([foreign.status, foreign.code]).toEqual([404, 'SESSION_NOT_FOUND']);
      expect(seen(foreign), `${call.method} ${call.path}`).toEqual(seen(unknown));
    }
    expect(await rowOf(id)).toEqual(before);
  });

  it('is in no listing and no report of theirs', async () => {
    await harness.create();
    expect((await harness.call('/v1/verify', { key: stranger.key })).json).toEqual({ data: [], hasMore: false });
    const { json } = await harness.call('/v1/usage', { key: stranger.key });
    expect(json).toMatchObject({ verifications: { total: 0 }, channels: { rcs: 0, sms_fallback: 0 } });
  });
});

describe('a create', () => {
  it('in another account’s name is FORBIDDEN, even if everything else is right', async () => {
    const before = await harness.countSessions();
    const { accountId, brandId } = harness.demo;
    for (const changes of [
      { accountId, brandId },
      { accountId, brandId: stranger.brandId },
    ]) {
      const answer = await harness.create(changes, { key: stranger.key });
      expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN', field: 'accountId' });
    }
    expect(await harness.countSessions()).toBe(before);
  });

  it('with another account’s brand is answered as with one that never was', async () => {
    const { accountId, key } = stranger;
    const foreign = await harness.create({ accountId }, { key });
    const unknown = await harness.create({ accountId, brandId: 'brd_00000000000000000000000000' }, { key });
    expect(foreign).toMatchObject({ status: 422, code: 'INVALID_BRAND', field: 'brandId' });
    expect(seen(foreign)).toEqual(seen(unknown));
  });

  it('under another account’s Idempotency-Key is a create of its own', async () => {
    const headers = { 'idempotency-key': 'the-same-word' };
    const own = await harness.create({}, { headers });
    const { accountId, brandId, key } = stranger;
    const theirs = await harness.create({ accountId, brandId }, { headers, key });
    expect([own.status, theirs.status]).toEqual([200, 200]);
    expect(theirs.headers['idempotent-replayed']).toBeUndefined();
    expect(theirs.json['id']).not.toBe(own.json['id']);
    expect(theirs.json).toMatchObject({ accountId, brandId });
  });
});
