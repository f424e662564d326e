import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { PhoneMembers } from '../support/phone-sign-in.js';
import { RealtimeClient, RealtimeClients } from '../support/realtime-client.js';

let harness: ControlPlaneHarness;
let root: AdminCalls;
let members: PhoneMembers;
const clients = new RealtimeClients();

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  members = new PhoneMembers(harness);
});
afterEach(() => clients.closeAll());
afterAll(() => harness.close());

describe('A39 the WebSocket with a cookie', () => {
  it.each([
    ['A40 a page of another site', { origin: 'https://evil.example' }],
    ['A40 a page of another site by an old browser', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
    ['A40 a page of another host of the site', { origin: 'https://other.localhost', 'sec-fetch-site': 'same-site' }],
    ['A40 a page of another port', { origin: 'https://127.0.0.1:1' }],
    ['A40 a sandboxed page', { origin: 'null' }],
    ['A40 a handshake without an origin', { origin: '' }],
    ['A40 a page that only the browser knows to be foreign', { 'sec-fetch-site': 'cross-site' }],
  ])('%s gets no connection with the cookie of its visitor (hijacking)', async (_, headers) => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const refused = await RealtimeClient.refused(harness, browser.dial({ headers }));
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
    expect((await clients.connect(harness, browser.dial())).said[0]).toMatchObject({ authenticated: true });
  });

  it('A39 neither a cookie at the API, nor a key or a ticket at the console, opens a connection', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const atApi = await clients.connect(harness, { ...browser.dial(), path: '/v1/realtime' });
    expect(atApi.said[0]).toMatchObject({ authenticated: false });
    expect((await atApi.subscribe('binds')).error?.code).toBe('UNAUTHORIZED');
    const nobody = new ConsoleBrowser(harness);
    for (const key of [root.key, harness.demo.apiKey])
      expect(await RealtimeClient.refused(harness, nobody.dial({ key }))).toMatchObject({ status: 401 });
  });

  it('A39 a cookie that was signed out, expired or replaced opens nothing', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const stolen = browser.dial();
    await browser.call('sign-out', { method: 'POST' });
    expect(await RealtimeClient.refused(harness, stolen)).toMatchObject({ status: 401 });
    await browser.signIn(root.key);
    const replaced = browser.dial();
    await browser.signIn(root.key);
    expect(await RealtimeClient.refused(harness, replaced)).toMatchObject({ status: 401 });
    await harness.database.query('UPDATE console_sessions SET expires_at = clock_timestamp()');
    expect(await RealtimeClient.refused(harness, browser.dial())).toMatchObject({ status: 401 });
  });

  it('A39 guesses of cookies use up the limit of their address', async () => {
    const guess = { headers: { cookie: `__Host-countersign=${'B'.repeat(43)}` } };
    const nobody = new ConsoleBrowser(harness);
    const statuses = new Set<number>();
    for (let at = 0; at < 70; at += 1) statuses.add((await RealtimeClient.refused(harness, nobody.dial(guess))).status);
    expect([...statuses]).toEqual([401, 429]);
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    expect((await clients.connect(harness, browser.dial())).said[0]).toMatchObject({ authenticated: true });
  });

  it('A39 a member sees no other account, session or mode, and no binds', async () => {
    const other = idOf(await root.post('accounts', { name: 'Other' }));
    const { browser } = await members.signedIn('developer', other);
    const foreign = String((await harness.create()).json['id']);
    for (const path of ['', '?mode=test', '?mode=admin']) {
      const client = await clients.connect(harness, browser.dial({ path }));
      expect((await client.subscribe(`session:${foreign}`)).error?.code).toBe('SESSION_NOT_FOUND');
      expect((await client.subscribe(`account:${harness.demo.accountId}`)).error?.code).toBe('FORBIDDEN');
      expect((await client.subscribe('binds')).error?.code).toBe('FORBIDDEN');
      await client.subscribe(`account:${other}`);
      await harness.approve(String((await harness.create()).json['id']));
      await client.ask({ type: 'ping', id: 'p' });
      expect(client.events()).toEqual([]);
    }
  });

  it('A39 from an address outside ADMIN_ALLOWED_CIDRS a role of the installation gets no connection', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    const other = await harness.neighbour({ ADMIN_ALLOWED_CIDRS: '192.0.2.0/24' });
    const dial = browser.dial({ baseUrl: other.baseUrl, headers: { origin: other.baseUrl } });
    expect(await RealtimeClient.refused(harness, dial)).toMatchObject({ status: 401 });
    await other.stop();
  });
});
