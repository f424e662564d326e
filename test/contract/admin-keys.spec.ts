import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

const SESSION = '/v1/verify/sess_00000000000000000000000000';

const made = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  admin.post('keys', { accountId: harness.demo.accountId, name: 'backend', ...changes });
const keyOf = (answer: Answer): string => String(answer.json['key']);
/** 404 for a valid key: the session does not exist. */
const status = async (key: string): Promise<number> => (await harness.call(SESSION, { key })).status;

describe('a key', () => {
  it('needs account and name: live, all scopes and the usual limits by default; the key itself is shown once', async () => {
    const answer = await made();
    expect(answer.status).toBe(201);
    const { id, key, prefix, ...rest } = answer.json;
    expect(id).toMatch(/^key_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(key).toMatch(/^csk_live_[0-9A-Za-z]{38}$/);
    expect(String(key).startsWith(String(prefix))).toBe(true);
    expect(String(prefix)).toHaveLength('csk_live_'.length + 4);
    expect(rest).toEqual({
      accountId: harness.demo.accountId,
      kind: 'live',
      name: 'backend',
      scopes: ['verify', 'otp', 'usage', 'realtime', 'webhooks'],
      limits: {},
      lastUsedAt: null,
      revokedAt: null,
    });
    expect((await admin.get(`keys/${String(id)}`)).json).toEqual({ id, prefix, ...rest });
    expect((await admin.get('keys')).text).not.toContain(String(key));
  });

  it('works at once, with its own scopes', async () => {
    const test = await made({ kind: 'test', scopes: ['usage'], limits: { default: 5, usage: 1_000_000 } });
    expect(test.json).toMatchObject({ kind: 'test', scopes: ['usage'], limits: { default: 5, usage: 1_000_000 } });
    expect(keyOf(test)).toMatch(/^csk_test_/);
    expect(await status(keyOf(test))).toBe(403);
    expect(await status(keyOf(await made()))).toBe(404);
  });

  it('has the limits that it is given', async () => {
    const key = keyOf(await made({ limits: { default: 7 } }));
    const answer = await harness.call(SESSION, { key });
    expect(answer.headers['ratelimit-policy']).toContain('"default";q=7;w=60');
  });

  it('may be given another name, other scopes and other limits, which act within 5 s', async () => {
    const answer = await made({ scopes: ['usage'], limits: { poll: 5 } });
    const changed = await admin.patch(`keys/${idOf(answer)}`, {
      name: 'renamed',
      scopes: ['verify'],
      limits: { create: 9 },
    });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({ name: 'renamed', scopes: ['verify'], limits: { create: 9 } });
    expect(changed.json['key']).toBeUndefined();
    await expect.poll(() => status(keyOf(answer)), { timeout: 5_000 }).toBe(404);
  });

  it.each<[string, unknown, string?]>([
    ['accountId', undefined],
    ['accountId', 'acct_00000000000000000000000000'],
    ['accountId', ''],
    ['kind', 'admin'],
    ['kind', null],
    ['name', undefined],
    ['name', ''],
    ['name', null],
    ['scopes', []],
    ['scopes', ['verify', 'verify']],
    ['scopes', ['admin']],
    ['scopes', 'verify'],
    ['scopes', null],
    ['limits', []],
    ['limits', null],
    ['limits', { create: 0 }, 'limits.create'],
    ['limits', { default: 5, poll: 1_000_001 }, 'limits.poll'],
    ['limits', { usage: 1.5 }, 'limits.usage'],
    ['limits', { usage: '60' }, 'limits.usage'],
    ['limits', { ip: 60 }, 'limits.ip'],
    ['key', 'csk_live_x'],
    ['prefix', 'x'],
  ])('with %s %j is refused, and nothing is made', async (field, value, offending = field) => {
    const before = (await admin.get('keys?limit=100')).text;
    const answer = await made({ [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', offending]);
    expect((await admin.get('keys?limit=100')).text).toBe(before);
  });

  it.each([['kind'], ['accountId'], ['revokedAt']])('never changes its %s', async (field) => {
    const answer = await admin.patch(`keys/${idOf(await made())}`, { [field]: 'test' });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('ends everywhere within 5 s of its revocation, for good; revoked again it stays as it is', async () => {
    const answer = await made();
    expect(await status(keyOf(answer))).toBe(404);
    const revoked = await admin.post(`keys/${idOf(answer)}/revoke`);
    expect(revoked.status).toBe(202);
    expect(revoked.json['revokedAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    await expect.poll(() => status(keyOf(answer)), { timeout: 5_000 }).toBe(401);
    expect((await admin.post(`keys/${idOf(answer)}/revoke`)).json).toEqual({
      ...revoked.json,
      lastUsedAt: (await admin.get(`keys/${idOf(answer)}`)).json['lastUsedAt'],
    });
    expect((await admin.notes(idOf(answer))).map(({ action }) => action)).toEqual(['create', 'revoke']);
  });

  it('when it is rotated works with its new text at once; the old one ends within 5 s and the id stays', async () => {
    const answer = await made({ name: 'rotated', limits: { create: 9 } });
    expect(await status(keyOf(answer))).toBe(404);
    const rotated = await admin.post(`keys/${idOf(answer)}/rotate`, {});
    expect(rotated.status).toBe(202);
    expect(rotated.json).toMatchObject({ id: idOf(answer), kind: 'live', name: 'rotated', limits: { create: 9 } });
    expect(keyOf(rotated)).not.toBe(keyOf(answer));
    expect(await status(keyOf(rotated))).toBe(404);
    await expect.poll(() => status(keyOf(answer)), { timeout: 5_000 }).toBe(401);
    expect((await admin.notes(idOf(answer))).map(({ action }) => action)).toEqual(['create', 'rotate']);
    const log = await admin.log();
    for (const key of [keyOf(answer), keyOf(rotated)]) expect(log).not.toContain(key);
  });

  it('that is revoked is not brought back', async () => {
    const id = idOf(await made());
    await admin.post(`keys/${id}/revoke`);
    const answer = await admin.post(`keys/${id}/rotate`);
    expect([answer.status, answer.code, answer.json['key']]).toEqual([409, 'CONFLICT', undefined]);
  });

  it('has actions without a body, and no others', async () => {
    const id = idOf(await made());
    const body = await admin.post(`keys/${id}/revoke`, { force: true });
    expect([body.status, body.code, body.field]).toEqual([422, 'VALIDATION_ERROR', 'force']);
    expect((await admin.post('keys/key_00000000000000000000000000/revoke')).code).toBe('NOT_FOUND');
    expect((await admin.post(`keys/${id}/delete`)).code).toBe('NOT_FOUND');
    expect((await admin.get(`keys/${id}/revoke`)).headers['allow']).toBe('POST');
    expect((await admin.delete(`keys/${id}`)).code).toBe('METHOD_NOT_ALLOWED');
    expect((await admin.get(`keys/${id}`)).json['revokedAt']).toBeNull();
  });

  it('is listed by account', async () => {
    const accountId = String((await admin.post('accounts', { name: 'Other' })).json['id']);
    const { key, ...shown } = (await made({ accountId })).json;
    expect(key).toBeDefined();
    expect((await admin.get(`keys?accountId=${accountId}`)).json).toEqual({ data: [shown], hasMore: false });
  });
});
