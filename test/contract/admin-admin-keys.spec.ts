import { parseApiKey } from '@countersign/keys';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { RealtimeClient } from '../support/realtime-client.js';

let harness: ControlPlaneHarness;
let root: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
});
afterAll(() => harness.close());

let count = 0;
const made = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  root.post('admin-keys', { name: `key ${count++}`, role: 'viewer', ...changes });
const keyOf = (answer: Answer): string => String(answer.json['key']);
const statusOf = async (key: string, path = 'binds'): Promise<number> =>
  (await harness.call(`/v1/admin/${path}`, { key })).status;

describe('an admin key', () => {
  it('needs a name and a role; the key itself is shown once', async () => {
    const answer = await made({ name: 'night shift', role: 'operator' });
    expect(answer.status).toBe(201);
    const { id, key, prefix, ...rest } = answer.json;
    expect(id).toMatch(/^akey_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(parseApiKey(String(key))).toEqual({ kind: 'admin', prefix });
    const unused = { phone: null, lastUsedAt: null, revokedAt: null };
    expect(rest).toEqual({ name: 'night shift', role: 'operator', ...unused });
    expect((await root.get(`admin-keys/${String(id)}`)).json).toEqual({ id, prefix, ...rest });
    const listed = await root.get('admin-keys');
    expect(dataOf(listed)[0]).toEqual({ id, prefix, ...rest });
    expect(listed.text).not.toContain(String(key));
    expect(await root.log()).not.toContain(String(key));
    const rows = await harness.database.query<{ row: string }>('SELECT k::text AS row FROM admin_keys k');
    expect(rows.some(({ row }) => row.includes(String(key).slice('csk_admin_'.length + 4)))).toBe(false);
  });

  it('takes the phone of its holder, or none', async () => {
    const answer = await made({ name: 'with a phone', role: 'viewer', phone: '+14155552671' });
    expect(answer.json['phone']).toBe('+14155552671');
    const refused = await made({ name: 'with a wrong phone', role: 'viewer', phone: '+1' });
    expect([refused.status, refused.code, refused.field]).toEqual([422, 'VALIDATION_ERROR', 'phone']);
    const path = `admin-keys/${idOf(answer)}`;
    expect((await root.patch(path, { phone: null })).json['phone']).toBeNull();
    expect((await root.patch(path, { name: 'phone as it is' })).json['phone']).toBeNull();
  });

  it('works at once, and its use is recorded', async () => {
    const answer = await made();
    expect(await statusOf(keyOf(answer))).toBe(200);
    const used = async (): Promise<unknown> => (await root.get(`admin-keys/${idOf(answer)}`)).json['lastUsedAt'];
    await expect.poll(used, { timeout: 15_000, interval: 250 }).not.toBeNull();
  });

  it('of the environment is not among them', async () => {
    expect(dataOf(await root.get('admin-keys?limit=100')).map(({ name }) => name)).not.toContain('root');
  });

  it.each<[string, unknown]>([
    ['name', undefined],
    ['name', ''],
    ['name', null],
    ['name', ' padded'],
    ['name', 'two\nlines'],
    ['name', 'x'.repeat(101)],
    ['name', 'root'],
    ['name', 'System'],
    ['name', 'key_01HZZZZZZZZZZZZZZZZZZZZZZZ'],
    ['name', 'Ann Lee (mbr_01hzzzzzzzzzzzzzzzzzzzzzzz)'],
    ['name', 'ROOT'],
    ['name', 'ｒｏｏｔ'],
    ['name', 'night shif\u0442'],
    ['name', 'night\u00a0shift'],
    ['name', 'night\u200bshift'],
    ['name', 'night  shift'],
    ['name', 'night shift\u0000'],
    ['role', undefined],
    ['role', null],
    ['role', 'admin'],
    ['role', 'Owner'],
    ['key', 'csk_admin_x'],
    ['limits', {}],
  ])('with %s %j is refused', async (field, value) => {
    const answer = await made({ [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('has a name of its own, in any case, until it is revoked', async () => {
    const first = await made({ name: 'Only One' });
    const second = await made({ name: 'only one' });
    expect([second.status, second.code, second.field]).toEqual([409, 'CONFLICT', 'name']);
    const other = await made();
    expect((await root.patch(`admin-keys/${idOf(other)}`, { name: 'ONLY ONE' })).code).toBe('CONFLICT');
    await root.post(`admin-keys/${idOf(first)}/revoke`);
    expect((await made({ name: 'only one' })).status).toBe(201);
  });

  it('gets another role, which applies within 5 s, and another name, which the audit log shows', async () => {
    const answer = await made({ name: 'before', role: 'viewer' });
    const own = new AdminCalls(harness, keyOf(answer));
    expect((await own.post('accounts', { name: 'X' })).status).toBe(403);
    const changed = await root.patch(`admin-keys/${idOf(answer)}`, { name: 'after', role: 'owner' });
    expect(changed.json).toMatchObject({ name: 'after', role: 'owner' });
    const account = async (): Promise<number> => (await own.post('accounts', { name: 'Made' })).status;
    await expect.poll(account, { timeout: 5_000 }).toBe(201);
    const [entry] = dataOf(await own.get('audit?resource=accounts&limit=1'));
    expect(entry).toMatchObject({ actor: 'after', action: 'create' });
  });

  it('that is rotated works with its new text at once, and ends with its old one within 5 s', async () => {
    const answer = await made();
    expect(await statusOf(keyOf(answer))).toBe(200);
    const rotated = await root.post(`admin-keys/${idOf(answer)}/rotate`);
    expect([rotated.status, rotated.json['id']]).toEqual([202, answer.json['id']]);
    expect(await statusOf(keyOf(rotated))).toBe(200);
    await expect.poll(() => statusOf(keyOf(answer)), { timeout: 5_000 }).toBe(401);
  });

  it('that is revoked ends within 5 s, for good', async () => {
    const answer = await made();
    expect(await statusOf(keyOf(answer))).toBe(200);
    const revoked = await root.post(`admin-keys/${idOf(answer)}/revoke`);
    expect([revoked.status, typeof revoked.json['revokedAt']]).toEqual([202, 'string']);
    await expect.poll(() => statusOf(keyOf(answer)), { timeout: 5_000 }).toBe(401);
    const again = await root.post(`admin-keys/${idOf(answer)}/rotate`);
    expect([again.status, again.code]).toEqual([409, 'CONFLICT']);
    const actions = (await root.notes(idOf(answer))).map(({ actor, action }) => `${actor} ${action}`);
    expect(actions).toEqual(['root create', 'root revoke']);
  });

  it('of an owner creates and revokes others, its own too, and never the key of the environment', async () => {
    const answer = await made({ name: 'chief', role: 'owner' });
    const chief = new AdminCalls(harness, keyOf(answer));
    const other = await chief.post('admin-keys', { name: 'made by chief', role: 'owner' });
    expect(other.status).toBe(201);
    expect(await root.notes(idOf(other))).toMatchObject([{ actor: 'chief', action: 'create', before: null }]);
    expect((await chief.post(`admin-keys/${idOf(answer)}/revoke`)).status).toBe(202);
    await expect.poll(() => statusOf(chief.key), { timeout: 5_000 }).toBe(401);
    for (const id of ['root', 'akey_00000000000000000000000000']) {
      expect((await root.post(`admin-keys/${id}/revoke`)).code).toBe('NOT_FOUND');
    }
    expect(await statusOf(root.key)).toBe(200);
  });

  it('has a quota of its own', async () => {
    const keys = [keyOf(await made()), keyOf(await made())];
    for (const key of keys) {
      const { headers } = await harness.call('/v1/admin/binds', { key });
      expect([headers['ratelimit-policy'], headers['x-ratelimit-remaining']]).toEqual([
        '"default";q=6000;w=60',
        '5999',
      ]);
    }
  });
});

describe('a WebSocket of an admin key', () => {
  const open: RealtimeClient[] = [];
  const connect = async (key: string): Promise<RealtimeClient> => {
    const client = await RealtimeClient.open(harness, { key });
    open.push(client);
    return client;
  };
  afterEach(() => {
    for (const client of open.splice(0)) client.socket.terminate();
  });

  it.each(['viewer', 'support', 'operator', 'owner'])('shows binds to the role %s, and nothing else', async (role) => {
    const client = await connect(keyOf(await made({ role })));
    expect((await client.subscribe('binds')).snapshot).toEqual([]);
    const refused = await client.subscribe(`account:${harness.demo.accountId}`);
    expect(refused.error).toMatchObject({ code: 'FORBIDDEN' });
  });

  it.each(['revoke', 'rotate'])('ends within 5 s of its %s, and no other does', async (action) => {
    const [answer, other] = [await made(), await made()];
    const client = await connect(keyOf(answer));
    const [untouched, rooted] = [await connect(keyOf(other)), await connect(root.key)];
    await client.subscribe('binds');
    await root.post(`admin-keys/${idOf(answer)}/${action}`);
    expect(await client.end()).toBe(4401);
    for (const still of [untouched, rooted]) expect(await still.ask({ type: 'ping', id: 1 })).toMatchObject({ id: 1 });
    await expect.poll(() => statusOf(keyOf(answer)), { timeout: 5_000 }).toBe(401);
    expect(await RealtimeClient.refused(harness, { key: keyOf(answer) })).toMatchObject({ status: 401 });
  });
});
