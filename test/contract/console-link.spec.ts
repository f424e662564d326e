import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({ NODE_ENV: 'development' });
});
afterAll(() => harness.close());

const path = (): string => harness.demo.consolePath.replace('/console/api/', '');
const tokenPath = (): string => path().split('&', 1)[0] ?? '';
const follow = (browser: ConsoleBrowser, target = path(), baseUrl = harness.baseUrl): Promise<Answer> =>
  browser.call(target, { baseUrl, headers: { 'sec-fetch-site': 'none' } });

describe('the link of a development run', () => {
  it('opens nothing in other runs, for other tokens, and from other machines', async () => {
    const browser = new ConsoleBrowser(harness);
    const other = await harness.neighbour({ NODE_ENV: 'test' });
    expect((await follow(browser, path(), other.baseUrl)).code).toBe('NOT_FOUND');
    await other.stop();
    const proxied = await harness.neighbour({ TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/8' });
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' };
    const remote = await harness.call(harness.demo.consolePath, {
      key: null,
      headers,
      baseUrl: proxied.baseUrl.replace('https', 'http'),
    });
    expect(remote.code).toBe('NOT_FOUND');
    await proxied.stop();
    expect((await follow(browser, `sign-in/link?token=${'A'.repeat(43)}`)).code).toBe('NOT_FOUND');
    expect((await follow(browser, 'sign-in/link?token=x')).field).toBe('token');
    for (const account of ['x', '//example.com', `${harness.demo.accountId}/..`])
      expect((await follow(browser, `${tokenPath()}&account=${encodeURIComponent(account)}`)).field).toBe('account');
    expect(browser.cookie).toBeUndefined();
  });

  it('signs in as root, once, and leads to the quickstart of its account', async () => {
    const browser = new ConsoleBrowser(harness);
    const { status, headers } = await follow(browser);
    expect([status, headers['location']]).toEqual([303, `/console/quickstart?account=${harness.demo.accountId}`]);
    expect(headers['set-cookie']).toMatch(/^__Host-countersign=.+; HttpOnly; Secure; SameSite=Strict$/);
    expect((await browser.call('me')).json).toMatchObject({ name: 'root', role: 'owner' });
    const again = new ConsoleBrowser(harness);
    expect((await follow(again)).code).toBe('NOT_FOUND');
    expect(again.cookie).toBeUndefined();
    expect(await new AdminCalls(harness).log()).not.toContain(path());
  });

  it('expires', async () => {
    await harness.database.query(
      `INSERT INTO console_sign_ins (digest, kind, sealed, expires_at) VALUES ($1, 'link', $2, clock_timestamp())`,
      [harness.keys.digest('console-sign-in', 'B'.repeat(43)), Buffer.alloc(1)],
    );
    expect((await follow(new ConsoleBrowser(harness), `sign-in/link?token=${'B'.repeat(43)}`)).code).toBe('NOT_FOUND');
  });
});
