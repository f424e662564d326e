import { createApiKey } from '@countersign/keys';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { type Answer, ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let root: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
});
afterAll(() => harness.close());

const as = (role: 'viewer' | 'support' | 'operator' | 'owner', name: string): Promise<AdminCalls> =>
  root.colleague(role, name);

describe('a sign-in with an admin key', () => {
  it('gives a cookie that scripts cannot read, of this host alone, for 12 hours', async () => {
    const browser = new ConsoleBrowser(harness);
    const { key } = await as('operator', 'night shift');
    const { status, json, headers } = await browser.signIn(key);
    expect([status, json['name'], json['role']]).toEqual([200, 'night shift', 'operator']);
    expect(json['accountId']).toBeUndefined();
    const left = Date.parse(String(json['expiresAt'])) - Date.now();
    expect(Math.abs(left - 12 * 3_600_000)).toBeLessThan(60_000);
    expect(headers['set-cookie']).toMatch(
      /^__Host-countersign=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=43200; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(headers['cache-control']).toBe('no-store');
    const me = await browser.call('me');
    expect(me.json).toEqual(json);
    expect(browser.csrfToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('stores neither the cookie nor the key', async () => {
    const own = await as('viewer', 'unstored');
    const browser = await ConsoleBrowser.withKey(harness, own.key);
    const rows = await harness.database.query<{ row: string }>('SELECT s::text AS row FROM console_sessions s');
    const stored = JSON.stringify(rows) + (await root.log()) + harness.log.join('');
    const cookie = browser.cookie ?? '';
    for (const secret of [cookie, Buffer.from(cookie, 'base64url').toString('hex'), own.key, browser.csrfToken ?? ''])
      expect(stored).not.toContain(secret);
  });

  it('with the key of the environment is that of root', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    expect((await browser.call('me')).json).toMatchObject({ name: 'root', role: 'owner' });
  });

  it.each([
    ['unknown', () => createApiKey('admin')],
    ['mistyped', () => `${root.key}x`],
    ['an account’s', () => harness.demo.apiKey],
  ])('fails with a key that is %s, and counts for the address', async (_, keyOf) => {
    const { status, code, headers } = await new ConsoleBrowser(harness).signIn(keyOf());
    expect([status, code, headers['set-cookie']]).toEqual([401, 'UNAUTHORIZED', undefined]);
    expect(headers['ratelimit-policy']).toBe('"ip";q=60;w=60');
    expect(Number(headers['x-ratelimit-remaining'])).toBeLessThan(60);
  });

  it.each([[{}], [{ key: 5 }], [{ key: '' }], [{ key: 'a b' }], [{ key: 'x', more: 1 }]])(
    'is refused with the body %j',
    async (body) => {
      const answer = await new ConsoleBrowser(harness).call('sign-in/key', { method: 'POST', body });
      expect([answer.status, answer.code]).toEqual([422, 'VALIDATION_ERROR']);
    },
  );

  it('is an entry of the audit log, and so is the sign-out', async () => {
    const browser = await ConsoleBrowser.withKey(harness, (await as('viewer', 'audited')).key);
    const [session] = dataOf(await browser.call('sessions'));
    expect((await browser.call('sign-out', { method: 'POST' })).status).toBe(204);
    const state = { holder: 'audited', role: 'viewer', method: 'key' };
    expect(await root.notes(session?.['id'])).toMatchObject([
      { actor: 'audited', action: 'sign-in', resource: 'console-sessions', before: null, after: state },
      { actor: 'audited', action: 'sign-out', before: state, after: null },
    ]);
  });
});

describe('the API over the console', () => {
  it('is the same API, with the role of the holder', async () => {
    const browser = await ConsoleBrowser.withKey(harness, (await as('viewer', 'reader')).key);
    expect((await browser.call('v1/admin/accounts')).json).toEqual((await root.get('accounts')).json);
    const refused = await browser.call('v1/admin/accounts', { method: 'POST', body: { name: 'X' } });
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
    const owner = await ConsoleBrowser.withKey(harness, (await as('owner', 'chief')).key);
    const made = await owner.call('v1/admin/accounts', { method: 'POST', body: { name: 'X' } });
    expect(made.status).toBe(201);
    expect(await root.notes(idOf(made))).toMatchObject([{ actor: 'chief', action: 'create' }]);
    expect((await owner.call('v1/verify')).code).toBe('FORBIDDEN');
  });

  it('takes a cookie at /console/api alone, and a key everywhere else alone', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const cookie = `__Host-countersign=${browser.cookie ?? ''}`;
    const headers = { cookie, 'x-csrf-token': browser.csrfToken ?? '' };
    for (const path of ['/v1/admin/accounts', '/v1/verify', '/v1/usage', '/v1/nothing'])
      expect((await harness.call(path, { key: null, headers })).code).toBe('UNAUTHORIZED');
    for (const path of ['/console/api/v1/admin/accounts', '/console/api/me', '/console/api/v1/nothing'])
      expect((await harness.call(path, { key: root.key })).code).toBe('UNAUTHORIZED');
    expect((await browser.call('v1/nothing')).code).toBe('NOT_FOUND');
    expect((await browser.call('nothing')).code).toBe('NOT_FOUND');
    expect((await browser.call('v1/admin/accounts', { method: 'PUT' })).code).toBe('METHOD_NOT_ALLOWED');
  });

  it('has quotas of its own for each holder', async () => {
    const own = await as('viewer', 'counted');
    const browser = await ConsoleBrowser.withKey(harness, own.key);
    const { headers } = await browser.call('v1/admin/binds');
    expect([headers['ratelimit-policy'], headers['x-ratelimit-remaining']]).toEqual(['"default";q=6000;w=60', '5999']);
  });
});

describe('a session of the console', () => {
  it('ends at once with the sign-out, in another process too', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const other = await harness.neighbour();
    const { cookie } = browser;
    expect((await browser.call('me', { baseUrl: other.baseUrl })).status).toBe(200);
    const out = await browser.call('sign-out', { method: 'POST' });
    expect([out.status, browser.cookie]).toEqual([204, undefined]);
    browser.cookie = cookie;
    for (const baseUrl of [harness.baseUrl, other.baseUrl])
      expect((await browser.call('me', { baseUrl })).code).toBe('UNAUTHORIZED');
    await other.stop();
  });

  it.each(['revoke', 'rotate'])('ends within 5 s of the %s of its key', async (action) => {
    const { json } = await root.post('admin-keys', { name: `to ${action}`, role: 'viewer' });
    const browser = await ConsoleBrowser.withKey(harness, String(json['key']));
    await root.post(`admin-keys/${String(json['id'])}/${action}`);
    await expect.poll(async () => (await browser.call('me')).status, { timeout: 5_000 }).toBe(401);
    const again = new ConsoleBrowser(harness);
    await expect.poll(async () => (await again.signIn(String(json['key']))).status, { timeout: 5_000 }).toBe(401);
  });

  it('has the present role of its key', async () => {
    const { json } = await root.post('admin-keys', { name: 'to change', role: 'viewer' });
    const browser = await ConsoleBrowser.withKey(harness, String(json['key']));
    await root.patch(`admin-keys/${String(json['id'])}`, { role: 'owner' });
    expect((await browser.call('me')).json['role']).toBe('owner');
  });

  it('of root ends when the environment has another key', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const other = await harness.neighbour({ COUNTERSIGN_ADMIN_KEY: createApiKey('admin') });
    expect((await browser.call('me', { baseUrl: other.baseUrl })).status).toBe(401);
    expect((await browser.call('me')).status).toBe(200);
    await other.stop();
  });

  it('is used from ADMIN_ALLOWED_CIDRS alone', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const other = await harness.neighbour({ ADMIN_ALLOWED_CIDRS: '192.0.2.0/24' });
    expect((await browser.call('me', { baseUrl: other.baseUrl })).status).toBe(401);
    const inside = new ConsoleBrowser(harness);
    const origin = { origin: '' };
    expect((await inside.signIn(root.key, { baseUrl: other.baseUrl, headers: origin })).status).toBe(401);
    await other.stop();
  });
});

describe('the list of sessions', () => {
  it('has the own ones, and for an owner those of everybody', async () => {
    const viewer = await as('viewer', 'listed');
    const [one, two] = [
      await ConsoleBrowser.withKey(harness, viewer.key),
      await ConsoleBrowser.withKey(harness, viewer.key),
    ];
    const own = dataOf(await one.call('sessions'));
    expect(own.map(({ name, current }) => [name, current])).toEqual([
      ['listed', false],
      ['listed', true],
    ]);
    expect(own[1]).toMatchObject({ role: 'viewer', method: 'key', id: expect.stringMatching(/^csn_/) as string });
    const owner = await ConsoleBrowser.withKey(harness, root.key);
    const everybody = dataOf(await owner.call('sessions?limit=100')).map(({ id }) => id);
    for (const { id } of own) expect(everybody).toContain(id);
    const page = await one.call(`sessions?limit=1&startingAfter=${String(own[0]?.['id'])}`);
    expect([dataOf(page).map(({ id }) => id), page.json['hasMore']]).toEqual([[own[1]?.['id']], false]);
    expect((await one.call('sessions?startingAfter=x')).field).toBe('startingAfter');
    expect((await one.call('sessions', { method: 'DELETE' })).status).toBe(204);
    expect([(await one.call('me')).status, (await two.call('me')).status]).toEqual([200, 401]);
    const [newer, older] = own.map(({ id }) => id);
    const signOut = { actor: 'listed', action: 'sign-out', before: { holder: 'listed', role: 'viewer' }, after: null };
    expect(await root.notes(newer)).toMatchObject([{ action: 'sign-in' }, signOut]);
    expect(await root.notes(older)).toMatchObject([{ action: 'sign-in' }]);
    expect((await one.call('sessions', { method: 'DELETE' })).status).toBe(204);
    expect(await root.notes(newer)).toHaveLength(2);
  });

  it('has fifty of one holder: a further sign-in ends the oldest, with its entry', async () => {
    const { key } = await as('viewer', 'often');
    const oldest = await ConsoleBrowser.withKey(harness, key);
    const [session] = dataOf(await oldest.call('sessions'));
    for (let more = 0; more < 49; more++) await ConsoleBrowser.withKey(harness, key);
    expect((await oldest.call('me')).status).toBe(200);
    const latest = await ConsoleBrowser.withKey(harness, key);
    expect([(await oldest.call('me')).status, (await latest.call('me')).status]).toEqual([401, 200]);
    expect(dataOf(await latest.call('sessions?limit=100'))).toHaveLength(50);
    const signOut = { actor: 'often', action: 'sign-out', before: { holder: 'often', role: 'viewer' }, after: null };
    expect(await root.notes(session?.['id'])).toMatchObject([{ action: 'sign-in' }, signOut]);
  });

  it('ends one of them: an own one, by an owner any', async () => {
    const [ann, bob] = [await as('operator', 'ann'), await as('operator', 'bob')];
    const browser = await ConsoleBrowser.withKey(harness, ann.key);
    const [session] = dataOf(await browser.call('sessions'));
    const path = `sessions/${String(session?.['id'])}`;
    const foreign = await ConsoleBrowser.withKey(harness, bob.key);
    for (const target of [path, 'sessions/csn_00000000000000000000000000', 'sessions/x'])
      expect((await foreign.call(target, { method: 'DELETE' })).code).toBe('NOT_FOUND');
    expect((await browser.call('me')).status).toBe(200);
    const owner = await ConsoleBrowser.withKey(harness, root.key);
    expect((await owner.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await browser.call('me')).status).toBe(401);
    expect((await root.notes(session?.['id'])).map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      'ann sign-in',
      'root sign-out',
    ]);
  });
});

/** With the text of a key that was just made. */
async function confirm(browser: ConsoleBrowser, { json }: Answer): Promise<void> {
  const answer = await browser.call('sessions/current/confirm', { method: 'POST', body: { key: json['key'] } });
  expect(answer.status).toBe(200);
}

describe('a member of an account', () => {
  /** Opens a session without a sign-in. */
  async function signedIn(memberId: string): Promise<ConsoleBrowser> {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const [session] = dataOf(await browser.call('sessions?limit=1'));
    await harness.database.query('UPDATE console_sessions SET member_id = $1 WHERE id = $2', [
      parseId('mbr', memberId),
      parseId('csn', String(session?.['id'])),
    ]);
    return browser;
  }
  let phones = 0;
  const member = async (role: string, accountId = harness.demo.accountId): Promise<string> => {
    const phone = `+1415555${String(2_600 + phones++)}`;
    return idOf(await root.post('members', { name: `Dev ${role}`, role, accountId, phone }));
  };

  it.each(['developer', 'viewer'])('with the role %s reads its own account, and nothing else', async (role) => {
    const browser = await signedIn(await member(role));
    const { accountId } = harness.demo;
    expect((await browser.call('me')).json).toMatchObject({ role, accountId });
    const live = String((await harness.create({ phone: PHONE })).json['id']);
    const test = String((await harness.create({ phone: PHONE }, { key: harness.demo.testApiKey })).json['id']);
    const idsOf = async (headers = {}): Promise<unknown[]> =>
      dataOf(await browser.call('v1/verify', { headers })).map(({ id }) => id);
    expect(await idsOf()).toContain(live);
    expect(await idsOf()).not.toContain(test);
    expect(await idsOf({ 'countersign-mode': 'test' })).toContain(test);
    expect((await browser.call('v1/usage')).status).toBe(200);
    expect((await browser.call('v1/webhooks/deliveries')).status).toBe(200);
    // Its answer has authEntropy.
    expect((await browser.call(`v1/verify/${live}`)).code).toBe('FORBIDDEN');
    for (const path of ['v1/admin/accounts', 'v1/admin/members', 'v1/admin/sessions', 'v1/admin/audit'])
      expect((await browser.call(path)).code).toBe('FORBIDDEN');
    const body = harness.createBody();
    expect((await browser.call('v1/verify', { method: 'POST', body })).code).toBe('FORBIDDEN');
    expect((await browser.call(`v1/verify/${live}`, { method: 'DELETE' })).code).toBe('FORBIDDEN');
    if (role === 'viewer')
      for (const path of ['v1/webhooks/secret/rotate', 'v1/webhooks/test', 'v1/webhooks/deliveries/x/retry'])
        expect((await browser.call(path, { method: 'POST' })).code).toBe('FORBIDDEN');
  });

  it('that is a viewer sees nobody’s phone, metadata or link, in lists and tables, and does not search for a phone', async () => {
    const [viewer, developer] = [await signedIn(await member('viewer')), await signedIn(await member('developer'))];
    const email = 'ann@people.example';
    const session = await harness.create({ phone: PHONE, metadata: { email } });
    const { id, fallbackUri } = session.json;
    const [mine] = dataOf(await viewer.call('v1/verify?limit=1'));
    expect(mine).toMatchObject({ id, phone: '+141******71', metadata: {}, fallbackUri: null });
    const token = /AUTH-[A-Z0-9]+-[0-9A-Z]+/.exec(String(fallbackUri))?.[0] ?? 'no token';
    for (const path of ['v1/verify', 'v1/verify?format=csv', 'v1/verify?status=pending'])
      for (const secret of [PHONE, PHONE.slice(1), email, token]) {
        expect([path, secret, (await viewer.call(path)).text.includes(secret)]).toEqual([path, secret, false]);
        if (secret !== token) expect((await developer.call(path)).text).toContain(secret);
      }
    expect(dataOf(await developer.call('v1/verify?limit=1'))[0]).toMatchObject({ id, phone: PHONE, fallbackUri });
    for (const query of ['phone=%2B14155552671', 'ph%6Fne=%2B14155552671', 'phone=+14155552671&format=csv'])
      expect((await viewer.call(`v1/verify?${query}`)).code).toBe('FORBIDDEN');
    expect(dataOf(await developer.call('v1/verify?phone=%2B14155552671')).length).toBeGreaterThan(0);
  });

  it('that is a viewer sees deliveries without phones, metadata and the values in their URLs', async () => {
    const [viewer, developer] = [await signedIn(await member('viewer')), await signedIn(await member('developer'))];
    const email = 'bob@people.example';
    const webhookUrl = 'https://acme.example/hook?token=f00dfeedc0de';
    const session = await harness.create({ phone: PHONE, metadata: { email }, webhookUrl });
    await harness.approve(String(session.json['id']));
    const listed = async (browser: ConsoleBrowser): Promise<Readonly<Record<string, unknown>> | undefined> =>
      dataOf(await browser.call('v1/webhooks/deliveries')).find(({ sessionId }) => sessionId === session.json['id']);
    await until('it has a body', 10_000, async () => ((await listed(developer))?.['body'] ?? null) !== null);
    const { id, body } = (await listed(developer)) ?? {};
    expect(body).toMatchObject({ data: { phone: PHONE, metadata: { email } } });
    const shown = { phone: '+141******71', metadata: {}, status: 'approved' };
    const masked = { id, url: 'https://acme.example/hook?token=***', body: { data: shown } };
    expect(await listed(viewer)).toMatchObject(masked);
    expect((await viewer.call(`v1/webhooks/deliveries/${String(id)}`)).json).toMatchObject(masked);
    for (const path of ['deliveries', 'deliveries?format=csv', `deliveries/${String(id)}`])
      for (const secret of [PHONE, PHONE.slice(1), email, 'f00dfeedc0de'])
        expect((await viewer.call(`v1/webhooks/${path}`)).text).not.toContain(secret);
  });

  it('that is a developer sends test webhooks and repeats deliveries', async () => {
    const browser = await signedIn(await member('developer'));
    const sent = await browser.call('v1/webhooks/test', { method: 'POST', body: { url: 'https://acme.example/hook' } });
    expect([sent.status, sent.json['type']]).toEqual([202, 'webhook.test']);
    const repeated = await browser.call(`v1/webhooks/deliveries/${idOf(sent)}/retry`, { method: 'POST' });
    expect(repeated.status).toBe(202);
    const headers = { 'countersign-mode': 'test' };
    expect((await browser.call(`v1/webhooks/deliveries/${idOf(sent)}`, { headers })).code).toBe('NOT_FOUND');
  });

  it('that is a developer makes keys of its account, under its own name', async () => {
    const id = await member('developer');
    const browser = await signedIn(id);
    const key = { method: 'POST', body: { name: 'ci', scopes: ['verify'] } };
    expect((await browser.call('v1/account/keys', key)).code).toBe('CONFIRMATION_REQUIRED');
    const confirmation = { method: 'POST', body: { key: harness.demo.apiKey } };
    const confirmed = await browser.call('sessions/current/confirm', confirmation);
    expect([confirmed.status, (await browser.call('me')).json]).toEqual([200, confirmed.json]);
    const left = Date.parse(String(confirmed.json['confirmedUntil'])) - Date.now();
    expect(Math.abs(left - 15 * 60_000)).toBeLessThan(60_000);
    const [session] = dataOf(await browser.call('sessions'));
    expect((await root.notes(session?.['id'])).at(-1)).toMatchObject({
      ...{ actor: `Dev developer (${id})`, action: 'confirm' },
      after: { key: expect.stringMatching(/^key_/) as unknown },
    });
    const made = await browser.call('v1/account/keys', key);
    expect([made.status, made.json['memberId']]).toEqual([201, id]);
    expect((await harness.call('/v1/verify', { key: String(made.json['key']) })).status).toBe(200);
    expect(await root.notes(idOf(made))).toMatchObject([{ actor: `Dev developer (${id})`, action: 'create' }]);
    const viewer = await signedIn(await member('viewer'));
    expect((await viewer.call('v1/account/keys', { method: 'POST', body: { name: 'x' } })).code).toBe('FORBIDDEN');
    expect((await viewer.call('v1/account')).status).toBe(200);
    expect((await viewer.call('sessions/current/confirm', confirmation)).code).toBe('FORBIDDEN');
    const engineer = await ConsoleBrowser.withKey(harness, root.key);
    expect((await engineer.call('sessions/current/confirm', confirmation)).code).toBe('FORBIDDEN');
  });

  it('that is a developer makes keys with no limit above those of the key that confirmed it, or above the usual ones', async () => {
    const accountId = idOf(await root.post('accounts', { name: 'Limited' }));
    const browser = await signedIn(await member('developer', accountId));
    const made = async (mode = 'live'): Promise<unknown> => {
      const call = { method: 'POST', body: { name: 'x', scopes: ['verify'] }, headers: { 'countersign-mode': mode } };
      return (await browser.call('v1/account/keys', { ...call, method: 'POST' })).json['limits'];
    };
    const rotated = async (key: Answer): Promise<Answer> =>
      browser.call(`v1/account/keys/${idOf(key)}/rotate`, { method: 'POST' });
    const small = await root.post('keys', { accountId, name: 'small', limits: { default: 60, create: 1, poll: 90 } });
    const second = await root.post('keys', { accountId, name: 'other', limits: { default: 70, create: 2, usage: 50 } });
    await confirm(browser, small);
    expect(await made()).toEqual({ default: 60, create: 1 });
    expect((await rotated(second)).code).toBe('FORBIDDEN');
    expect(await made('test')).toEqual({});
    const large = await root.post('keys', { accountId, name: 'large', limits: { default: 100_000, create: 50_000 } });
    await confirm(browser, large);
    expect(await made()).toEqual({});
    expect((await rotated(second)).status).toBe(202);
    await browser.call(`v1/account/keys/${idOf(second)}/revoke`, { method: 'POST' });
    expect((await rotated(second)).code).toBe('CONFLICT');
  });

  it('that is a developer makes keys that share one quota for each mode', async () => {
    const accountId = idOf(await root.post('accounts', { name: 'Shared' }));
    const browser = await signedIn(await member('developer', accountId));
    await confirm(browser, await root.post('keys', { accountId, name: 'first' }));
    const made = async (mode: string): Promise<string> => {
      const body = { name: mode, scopes: ['verify'] };
      const call = { method: 'POST', body, headers: { 'countersign-mode': mode } } as const;
      return String((await browser.call('v1/account/keys', call)).json['key']);
    };
    const remaining = async (key: string): Promise<unknown> =>
      (await harness.call('/v1/verify', { key })).headers['x-ratelimit-remaining'];
    const keys = [await made('live'), await made('live'), await made('test')];
    const left = [];
    for (const key of keys) left.push(await remaining(key));
    expect(left).toEqual(['599', '598', '599']);
  });

  it('that is a developer has its replacement of a webhook secret in the audit log, on both paths', async () => {
    const accountId = idOf(await root.post('accounts', { name: 'Secrets' }));
    const id = await member('developer', accountId);
    const browser = await signedIn(id);
    const scopes = ['webhooks', 'account'];
    await confirm(browser, await root.post('keys', { accountId, name: 'of the webhook', scopes }));
    for (const path of ['v1/webhooks/secret/rotate', 'v1/account/webhook/secret/rotate'])
      expect((await browser.call(path, { method: 'POST' })).status).toBe(200);
    const entries = (await root.notes(accountId)).filter(({ resource }) => resource === 'webhook-secrets');
    const entry = { actor: `Dev developer (${id})`, action: 'rotate', before: null, after: { mode: 'live' } };
    expect(entries).toMatchObject([entry, entry]);
  });

  it('does not see another account', async () => {
    const other = idOf(await root.post('accounts', { name: 'Other' }));
    const browser = await signedIn(await member('developer', other));
    await harness.create();
    expect(dataOf(await browser.call('v1/verify'))).toEqual([]);
    expect((await browser.call('v1/usage')).json).toMatchObject({ verifications: { total: 0 } });
  });

  it.each<[string, (id: string, accountId: string) => Promise<unknown>]>([
    ['it is deactivated', (id) => root.patch(`members/${id}`, { active: false })],
    ['it is deleted', (id) => root.delete(`members/${id}`)],
    ['its phone is changed', (id) => root.patch(`members/${id}`, { phone: '+14155552699' })],
    ['its account is deactivated', (_, accountId) => root.patch(`accounts/${accountId}`, { active: false })],
  ])('is signed out when %s', async (_, change) => {
    const accountId = idOf(await root.post('accounts', { name: 'Other' }));
    const id = await member('developer', accountId);
    const browser = await signedIn(id);
    expect((await browser.call('me')).status).toBe(200);
    await change(id, accountId);
    expect((await browser.call('me')).status).toBe(401);
    await root.delete(`members/${id}`);
  });
});
