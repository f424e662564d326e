import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_ROLES } from '@countersign/accounts/admin-keys';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { PhoneMembers } from '../support/phone-sign-in.js';
import { type Dial, RealtimeClient, RealtimeClients } from '../support/realtime-client.js';
import { DocumentedMessages } from '../support/received-events.js';

const BIND = { hosts: [{ host: '127.0.0.1', port: 2775 }], systemId: 'live', password: 'secret' };

let harness: ControlPlaneHarness;
let root: AdminCalls;
let members: PhoneMembers;
let documented: DocumentedMessages;
const clients = new RealtimeClients();

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  members = new PhoneMembers(harness);
  documented = DocumentedMessages.by((await harness.call('/v1/asyncapi.json', { key: null })).text);
});
afterEach(() => clients.closeAll());
afterAll(() => harness.close());

const connect = (browser: ConsoleBrowser, dial: Dial = {}): Promise<RealtimeClient> =>
  clients.connect(harness, browser.dial(dial));

function expectDocumented(client: RealtimeClient): void {
  for (const frame of client.said) expect([frame, documented.frameFaults(frame)]).toEqual([frame, []]);
}

describe('the WebSocket of the console', () => {
  it.each(ADMIN_ROLES)('shows the binds to the role %s of the installation, and nothing else', async (role) => {
    const browser = await ConsoleBrowser.withKey(harness, (await root.colleague(role, `${role} at a page`)).key);
    const client = await connect(browser);
    expect(client.said[0]).toEqual({ type: 'welcome', authenticated: true, heartbeatMs: 25_000 });
    const made = await root.post('binds', BIND);
    expect((await client.subscribe('binds')).snapshot).toEqual(dataOf(await root.get('binds')));
    const changed = await root.post(`binds/${idOf(made)}/disable`);
    expect((await client.event('bind.updated')).data).toEqual(changed.json);
    const session = String((await harness.create()).json['id']);
    for (const channel of [`account:${harness.demo.accountId}`, `session:${session}`])
      expect((await client.subscribe(channel)).error?.code).toBe('FORBIDDEN');
    expect((await client.ask({ type: 'auth', id: 1, ticket: 'x' })).error?.code).toBe('MALFORMED_REQUEST');
    expectDocumented(client);
    await root.delete(`binds/${idOf(made)}`);
  });

  it('shows a developer the events and sessions of the own account as listings have them', async () => {
    const { browser } = await members.signedIn('developer');
    const client = await connect(browser);
    expect((await client.subscribe(`account:${harness.demo.accountId}`)).snapshot).toBeNull();
    const id = String((await harness.create({ phone: PHONE, metadata: { order: '7' } })).json['id']);
    const listed = async (): Promise<unknown> =>
      dataOf(await browser.call('v1/verify')).find((session) => session['id'] === id);
    expect((await client.subscribe(`session:${id}`)).snapshot).toEqual(await listed());
    await harness.approve(id);
    await client.quiet(() => client.events('verification.completed').length === 2);
    for (const { data } of client.events('verification.completed')) {
      expect(data).toEqual(await listed());
      expect(data).toMatchObject({ phone: PHONE, metadata: { order: '7' }, status: 'approved' });
      expect(data).not.toHaveProperty('authEntropy');
    }
    expect((await client.subscribe('binds')).error?.code).toBe('FORBIDDEN');
    expectDocumented(client);
  });

  it('masks people’s data for a viewer of an account', async () => {
    const { browser } = await members.signedIn('viewer');
    const client = await connect(browser);
    await client.subscribe(`account:${harness.demo.accountId}`);
    const id = String((await harness.create({ phone: PHONE, metadata: { order: '7' } })).json['id']);
    const masked = { id, phone: '+141******71', metadata: {}, fallbackUri: null };
    expect((await client.subscribe(`session:${id}`)).snapshot).toMatchObject({ ...masked, status: 'pending' });
    await harness.approve(id);
    await client.quiet(() => client.events('verification.completed').length === 2);
    for (const { data } of client.events()) expect(data).toMatchObject({ ...masked, status: 'approved' });
    expect(JSON.stringify(client.said)).not.toContain(PHONE);
    expectDocumented(client);
  });

  it('resumes the channel of the account', async () => {
    const { browser } = await members.signedIn('viewer');
    const first = await connect(browser);
    const channel = `account:${harness.demo.accountId}`;
    await first.subscribe(channel);
    await harness.approve(String((await harness.create()).json['id']));
    const { id: resumeAfter } = await first.event('verification.completed');
    first.close();
    const missed = String((await harness.create()).json['id']);
    await harness.approve(missed);
    const second = await connect(browser);
    await second.ask({ type: 'subscribe', id: 's', channel, resumeAfter });
    expect((await second.event('verification.completed')).data).toMatchObject({ id: missed, phone: '+141******71' });
  });

  it('works in the mode of its address', async () => {
    const { browser } = await members.signedIn('developer');
    const [live, test] = [await connect(browser), await connect(browser, { path: '?mode=test' })];
    const channel = `account:${harness.demo.accountId}`;
    for (const client of [live, test]) await client.subscribe(channel);
    const { testApiKey } = harness.demo;
    const id = String((await harness.create({ phone: '+15005550001' }, { key: testApiKey })).json['id']);
    expect((await test.event('verification.completed')).data).toMatchObject({ id, test: true });
    await live.ask({ type: 'ping', id: 'p' });
    expect(live.events()).toEqual([]);
    expect((await live.subscribe(`session:${id}`)).error?.code).toBe('SESSION_NOT_FOUND');
  });

  it.each<[string, (browser: ConsoleBrowser) => Promise<unknown>]>([
    ['the sign-out', (browser) => browser.call('sign-out', { method: 'POST' })],
    ['the end of the session by an owner', () => endByOwner('to close')],
    ['the revocation of its key', async () => root.post(`admin-keys/${await keyIdOf('to close')}/revoke`)],
    ['a change of role', async () => root.patch(`admin-keys/${await keyIdOf('to close')}`, { role: 'owner' })],
    ['its time', () => harness.database.query('UPDATE console_sessions SET expires_at = clock_timestamp()')],
  ])('is closed within 5 s of %s', async (_, change) => {
    const { json } = await root.post('admin-keys', { name: 'to close', role: 'viewer' });
    const browser = await ConsoleBrowser.withKey(harness, String(json['key']));
    const client = await connect(browser);
    await change(browser);
    await expect.poll(() => client.closed?.code, { timeout: 5_000 }).toBe(4401);
    await root.post(`admin-keys/${String(json['id'])}/revoke`);
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['deactivated', (id) => root.patch(`members/${id}`, { active: false })],
    ['deleted', (id) => root.delete(`members/${id}`)],
    ['given another role', (id) => root.patch(`members/${id}`, { role: 'developer' })],
  ])('is closed within 5 s when its member is %s, in another process too', async (_, change) => {
    const { id, browser } = await members.signedIn('viewer');
    const other = await harness.neighbour();
    const headers = { origin: other.baseUrl };
    const client = await connect(browser, { baseUrl: other.baseUrl, headers });
    await change(id);
    await expect.poll(() => client.closed?.code, { timeout: 5_000 }).toBe(4401);
    await other.stop();
  });

  it.each<[string, Dial, number, string]>([
    ['a wrong cookie', { headers: { cookie: `__Host-countersign=${'A'.repeat(43)}` } }, 401, 'UNAUTHORIZED'],
    ['no cookie', { headers: { cookie: '' } }, 401, 'UNAUTHORIZED'],
    ['an address below', { path: '/x' }, 404, 'NOT_FOUND'],
    ['another subprotocol', { protocols: ['graphql-transport-ws'] }, 400, 'MALFORMED_REQUEST'],
  ])('is refused with %s', async (_, dial, status, code) => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const refused = await RealtimeClient.refused(harness, browser.dial(dial));
    expect(refused).toMatchObject({ status, code });
    expect(refused.headers).toMatchObject({ 'cache-control': 'no-store' });
  });
});

async function keyIdOf(name: string): Promise<string> {
  const found = dataOf(await root.get('admin-keys?limit=100')).find(
    (key) => key['name'] === name && key['revokedAt'] === null,
  );
  return String(found?.['id']);
}

async function endByOwner(name: string): Promise<void> {
  const owner = await ConsoleBrowser.withKey(harness, root.key);
  const found = dataOf(await owner.call('sessions?limit=100')).find((session) => session['name'] === name);
  await owner.call(`sessions/${String(found?.['id'])}`, { method: 'DELETE' });
}
