import { ADMIN_ROLES } from '@countersign/accounts/admin-keys';
import { parseId } from '@countersign/ids';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf, type Operation } from '../../apps/control-plane/src/docs/openapi/operations.js';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { ControlPlaneHarness, ownAddress, type Answer } from '../support/control-plane-harness.js';
import { rawAnswer } from '../support/raw-answer.js';

let harness: ControlPlaneHarness;
let root: AdminCalls;
let operations: readonly Operation[];

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  const { text } = await harness.call('/v1/openapi.json', { key: null });
  operations = operationsOf(JSON.parse(text) as OpenAPIObject);
});
afterAll(() => harness.close());

const browserOf = (key: string = root.key): Promise<ConsoleBrowser> => ConsoleBrowser.withKey(harness, key);
const statusOf = async (browser: ConsoleBrowser, path = 'me'): Promise<number> => (await browser.call(path)).status;

/** A browser with these cookies and no others. */
function thief(cookies: string): ConsoleBrowser {
  const browser = new ConsoleBrowser(harness);
  browser.cookie = cookies;
  return browser;
}

/** A browser of a member of an account; sign-ins by phone have tests of their own. */
async function memberBrowser(role: string, accountId: string, phone: string): Promise<ConsoleBrowser> {
  const member = await root.post('members', { name: role, role, accountId, phone });
  const browser = await browserOf();
  const [session] = dataOf(await browser.call('sessions?limit=1'));
  await harness.database.query('UPDATE console_sessions SET member_id = $1 WHERE id = $2', [
    parseId('mbr', idOf(member)),
    parseId('csn', String(session?.['id'])),
  ]);
  return browser;
}

const isRefused = ({ status, code }: Answer): boolean => status === 403 && code === 'FORBIDDEN';

function bodyOf({ method }: Operation): object {
  return method === 'GET' || method === 'DELETE' ? {} : { body: {} };
}

const targetOf = ({ path }: Operation): string => path.slice(1).replaceAll(/\{[^}]+\}/g, 'x');

describe('A39 cookies of the console', () => {
  it('A39 one that was signed out, expired or replaced opens nothing', async () => {
    const browser = await browserOf();
    const { cookie = '' } = browser;
    await browser.call('sign-out', { method: 'POST' });
    expect(await statusOf(thief(cookie))).toBe(401);

    const expired = await browserOf();
    const kept = expired.cookie ?? '';
    await harness.database.query('UPDATE console_sessions SET expires_at = clock_timestamp()');
    expect(await statusOf(thief(kept))).toBe(401);
    expect(dataOf(await (await browserOf()).call('sessions'))).toHaveLength(1);
  });

  it.each([
    ['none', ''],
    ['of another form', 'x'],
    ['of a guess', 'A'.repeat(43)],
    ['twice, so that two servers could read two', `${'A'.repeat(43)}; __Host-countersign=${'B'.repeat(43)}`],
    ['with a quote', `'${'A'.repeat(42)}`],
    ['of much text', 'A'.repeat(4_000)],
  ])('A39 a cookie %s opens nothing', async (_, cookie) => {
    expect(await statusOf(thief(cookie))).toBe(401);
  });

  it('A39 a second cookie of the name takes nobody in', async () => {
    const { cookie = '' } = await browserOf();
    expect(await statusOf(thief(`${cookie}; __Host-countersign=${'B'.repeat(43)}`))).toBe(401);
    expect(await statusOf(thief(cookie))).toBe(200);
  });

  it('A39 the stored digest is no cookie', async () => {
    await browserOf();
    const [row] = await harness.database.query<{ digest: Buffer }>('SELECT digest FROM console_sessions LIMIT 1');
    for (const form of ['base64url', 'hex', 'latin1'] as const)
      expect(await statusOf(thief((row?.digest.toString(form) ?? '').replaceAll(/[^\x21-\x7e]/g, '-')))).toBe(401);
  });

  it('A39 a cookie that an attacker planted is never the one of the sign-in (fixation)', async () => {
    const planted = await browserOf((await root.colleague('viewer', 'attacker')).key);
    const { cookie = '' } = planted;
    const victim = thief(cookie);
    const { status } = await victim.signIn(root.key);
    expect([status, victim.cookie === cookie]).toEqual([200, false]);
    expect(await statusOf(thief(cookie))).toBe(401);
    const invented = thief('A'.repeat(43));
    await invented.signIn(root.key);
    expect(invented.cookie).not.toBe('A'.repeat(43));
    expect(await statusOf(thief('A'.repeat(43)))).toBe(401);
  });

  it('A39 another path to the API takes no cookie', async () => {
    const browser = await browserOf();
    const headers = { cookie: `__Host-countersign=${browser.cookie ?? ''}`, 'x-csrf-token': browser.csrfToken ?? '' };
    for (const path of ['/v1/admin/accounts', '//console/api/v1/admin/accounts', '/console/../v1/admin/accounts']) {
      const { status } = await harness.call(path, { key: null, headers });
      expect([path, status === 401 || status === 404]).toEqual([path, true]);
    }
    for (const path of [
      '/console/api/%761/admin/accounts',
      '/console%2Fapi/v1/admin/accounts',
      '/Console/api/v1/admin/accounts',
    ])
      expect((await harness.call(path, { key: null, headers })).status).toBe(404);
  });

  it.each([
    ['GET', 'me'],
    ['GET', 'sessions'],
    ['DELETE', 'sessions'],
    ['DELETE', 'sessions/csn_00000000000000000000000000'],
    ['POST', 'sign-out'],
  ] as const)('A39 another spelling of the path leads no key to a call of the console: %s %s', async (method, path) => {
    const port = Number(harness.environment['CONTROL_PLANE_PORT']);
    const targets = [`/%63onsole/api/${path}`, `/console%2Fapi/${path}`, `${harness.baseUrl}/console/api/${path}`];
    const logged = harness.log.length;
    for (const key of [harness.demo.apiKey, harness.demo.testApiKey, root.key]) {
      for (const target of targets) {
        const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nConnection: close`;
        const { status } = await rawAnswer(port, `${method} ${target} HTTP/1.1\r\n${headers}\r\n\r\n`, ownAddress());
        expect([target, status]).toEqual([target, 404]);
      }
    }
    expect(harness.log.slice(logged).filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it('A39 each role may do over the cookie what it may do with a key, on every call', async () => {
    const calls = operations.filter(({ path }) => path.startsWith('/v1/admin/'));
    expect(calls.length).toBeGreaterThan(50);
    for (const role of ADMIN_ROLES) {
      const browser = await browserOf((await root.colleague(role, `${role} of the console`)).key);
      for (const call of calls) {
        const roles = Reflect.get(call.operation, 'x-required-roles') as readonly string[];
        const answer = await browser.call(targetOf(call), { method: call.method, ...bodyOf(call) });
        expect([role, call.method, call.path, isRefused(answer)]).toEqual([
          role,
          call.method,
          call.path,
          !roles.includes(role),
        ]);
      }
    }
  });

  /** Calls with an account's key that its members may make. */
  const OF_MEMBERS = [
    'GET /v1/verify',
    'GET /v1/usage',
    'GET /v1/webhooks/deliveries',
    'GET /v1/webhooks/deliveries/{deliveryId}',
  ];

  /** Those of them that change something, for developers alone. */
  const OF_DEVELOPERS = [
    'POST /v1/webhooks/test',
    'POST /v1/webhooks/deliveries/{deliveryId}/retry',
    'POST /v1/webhooks/secret/rotate',
  ];

  it.each([
    ['developer', '+14155552674'],
    ['viewer', '+14155552675'],
  ])('A39 a %s of an account reads its own account, and does nothing else', async (role, phone) => {
    const browser = await memberBrowser(role, harness.demo.accountId, phone);
    for (const call of operations) {
      if (!call.path.startsWith('/v1/') || call.operation.security?.length === 0) continue;
      const name = `${call.method} ${call.path}`;
      const answer = await browser.call(targetOf(call), { method: call.method, ...bodyOf(call) });
      const isOfAccount = call.path.startsWith('/v1/account') && (role === 'developer' || call.method === 'GET');
      const mayCall = OF_MEMBERS.includes(name) || (role === 'developer' && OF_DEVELOPERS.includes(name));
      expect([name, isRefused(answer)]).toEqual([name, !isOfAccount && !mayCall]);
    }
  });

  it('A39 a viewer of an account sees its webhook URLs without the values of their query, which may be tokens', async () => {
    const own = idOf(
      await root.post('accounts', {
        ...{ name: 'With webhooks', defaultWebhookUrl: 'https://hooks.example/live?token=secret1' },
        testWebhookUrl: 'https://hooks.example/test?token=secret2',
      }),
    );
    const urls = async (role: string, phone: string): Promise<unknown[]> => {
      const browser = await memberBrowser(role, own, phone);
      const { json } = await browser.call('v1/account/webhook');
      return [json['defaultWebhookUrl'], json['testWebhookUrl']];
    };
    expect(await urls('viewer', '+14155552677')).toEqual([
      'https://hooks.example/live?token=***',
      'https://hooks.example/test?token=***',
    ]);
    expect(await urls('developer', '+14155552678')).toEqual([
      'https://hooks.example/live?token=secret1',
      'https://hooks.example/test?token=secret2',
    ]);
  });

  it('A39 a member of an account sees nothing of another one', async () => {
    const other = idOf(await root.post('accounts', { name: 'Other' }));
    const browser = await memberBrowser('developer', other, '+14155552676');
    await harness.create();
    for (const mode of ['live', 'test', 'admin', '*']) {
      const headers = { 'countersign-mode': mode };
      for (const path of ['v1/verify', 'v1/webhooks/deliveries'])
        expect(dataOf(await browser.call(path, { headers }))).toEqual([]);
      expect((await browser.call('v1/usage', { headers })).json).toMatchObject({ verifications: { total: 0 } });
    }
    expect(dataOf(await browser.call('sessions')).map(({ accountId }) => accountId)).toEqual([other]);
  });

  it('A39 guesses of keys at the sign-in use up the limit of their address, and a right key still works', async () => {
    const browser = new ConsoleBrowser(harness);
    const codes: unknown[] = [];
    for (let guess = 0; guess < 70; guess += 1) codes.push((await browser.signIn('csk_admin_guess')).code);
    expect(codes.at(-1)).toBe('RATE_LIMITED');
    expect((await browser.signIn(root.key)).status).toBe(200);
  });
});

describe('A40 writes of foreign pages', () => {
  const write = { method: 'POST', body: { name: 'Forged' } } as const;

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without a token', { 'x-csrf-token': '' }],
    ['with an empty one', { 'x-csrf-token': ' ' }],
    ['with a guess', { 'x-csrf-token': 'A'.repeat(43) }],
    ['with a shorter one', { 'x-csrf-token': 'A' }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from an opaque origin', { origin: 'null' }],
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['from another site by an old browser', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
  ])('A40 a write %s changes nothing', async (_, headers) => {
    const browser = await browserOf();
    const before = await root.log();
    const answer = await browser.call('v1/admin/accounts', { ...write, headers });
    expect([answer.status, answer.code]).toEqual([403, 'FORBIDDEN']);
    expect(await root.log()).toBe(before);
    expect((await browser.call('sign-out', { method: 'POST', headers })).status).toBe(403);
    expect(await statusOf(browser)).toBe(200);
    expect((await browser.call('v1/admin/accounts', write)).status).toBe(201);
  });

  it('A40 the token of another session is none', async () => {
    const [one, two] = [await browserOf(), await browserOf()];
    const answer = await one.call('v1/admin/accounts', { ...write, headers: { 'x-csrf-token': two.csrfToken ?? '' } });
    expect(answer.status).toBe(403);
  });

  it('A40 a form of another site signs nobody in', async () => {
    const browser = new ConsoleBrowser(harness);
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await browser.signIn(root.key, { headers });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await browser.call('sign-in/key', { method: 'POST', headers: form, body: `key=${root.key}` });
    expect(answer.status).toBe(415);
    const plain = await browser.call('sign-in/key', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify({ key: root.key }),
    });
    expect(plain.status).toBe(415);
  });
});
