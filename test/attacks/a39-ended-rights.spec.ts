import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { type Answer, ControlPlaneHarness, ownAddress } from '../support/control-plane-harness.js';
import { DemoAccount } from '../support/demo-account.js';
import { type PhoneBrowser, PhoneMembers } from '../support/phone-sign-in.js';
import { heldRequest, type HeldRequest } from '../support/raw-answer.js';
import { until } from '../support/until.js';

// Requests are authorized by their headers, and keys by a copy that is some seconds old. Keys, members and sessions that have
// ended meanwhile change nothing.

const WITHIN_MS = 40_000;

let harness: ControlPlaneHarness;
let root: AdminCalls;
let members: PhoneMembers;
let account: DemoAccount;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  members = new PhoneMembers(harness);
  account = new DemoAccount(harness);
});
afterAll(() => harness.close());

describe('A39 a key that has ended', () => {
  it.each<[string, (memberId: string, keyId: string) => Promise<Answer>]>([
    ['revoked with its member', (memberId) => root.delete(`members/${memberId}?revokeKeys=true`)],
    ['rotated by an owner', (_, keyId) => root.post(`keys/${keyId}/rotate`)],
    ['without the scopes', (_, keyId) => root.patch(`keys/${keyId}`, { scopes: ['verify'] })],
  ])('A39 changes nothing at once when it is %s', async (how, end) => {
    const { id, browser } = await members.signedIn();
    const confirming = await account.newKey({ scopes: ['verify', 'account', 'webhooks'] });
    await browser.call('sessions/current/confirm', { method: 'POST', body: { key: confirming.json['key'] } });
    const made = await browser.call('v1/account/keys', {
      ...{ method: 'POST', body: { name: 'made', scopes: ['verify', 'account', 'webhooks'] } },
    });
    const key = String(made.json['key']);
    const target = idOf(await account.newKey({ scopes: ['verify'] }));
    // Processes remember the holder of a key for some seconds.
    expect((await harness.call('/v1/account', { key })).status).toBe(200);
    expect((await end(id, idOf(made))).status).toBeLessThan(300);
    const before = await account.state();
    const code = how === 'without the scopes' ? 'FORBIDDEN' : 'UNAUTHORIZED';
    for (const [name, path, call] of account.changes(target))
      expect([name, (await harness.call(`/${path}`, { ...call, key })).code]).toEqual([name, code]);
    expect(await account.state()).toEqual(before);
  });
});

describe('A39 a change that is under way', () => {
  /** A PATCH of the webhook that was authorized by its headers, and whose body lacks the last octet. */
  async function withoutLastOctet(browser: PhoneBrowser): Promise<HeldRequest> {
    await harness.database.query(
      `UPDATE console_sessions SET last_used_at = now() - interval '1 day'
       WHERE id = (SELECT id FROM console_sessions ORDER BY id DESC LIMIT 1)`,
    );
    const body = JSON.stringify({ defaultWebhookUrl: 'https://thief.example/hook' });
    const head = [
      'PATCH /console/api/v1/account/webhook HTTP/1.1',
      `Host: ${new URL(harness.baseUrl).host}`,
      `Origin: ${harness.baseUrl}`,
      `Cookie: __Host-countersign=${browser.cookie ?? ''}`,
      `X-CSRF-Token: ${browser.csrfToken ?? ''}`,
      'Content-Type: application/json',
      `Content-Length: ${String(body.length)}`,
      'Connection: close',
    ];
    const port = Number(harness.environment['CONTROL_PLANE_PORT']);
    const held = await heldRequest(port, `${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`, ownAddress());
    await until('the session was read', WITHIN_MS, async () => {
      const [row] = await harness.database.query<{ used: boolean }>(
        `SELECT last_used_at > now() - interval '1 hour' AS used FROM console_sessions ORDER BY id DESC LIMIT 1`,
      );
      return row?.used === true;
    });
    return held;
  }

  it.each<[string, string, (memberId: string, keyId: string, browser: PhoneBrowser) => Promise<Answer>]>([
    ['the member is deactivated', 'UNAUTHORIZED', (memberId) => root.patch(`members/${memberId}`, { active: false })],
    ['the session ends', 'UNAUTHORIZED', (_, __, browser) => browser.call('sign-out', { method: 'POST' })],
    ['the confirming key is revoked', 'CONFIRMATION_REQUIRED', (_, keyId) => root.post(`keys/${keyId}/revoke`)],
    ['that key loses its scope', 'CONFIRMATION_REQUIRED', (_, id) => root.patch(`keys/${id}`, { scopes: ['verify'] })],
  ])('A39 is refused when %s', async (_, code, end) => {
    const { id, browser } = await members.signedIn();
    const key = await account.newKey({ scopes: ['verify', 'account', 'webhooks'] });
    await browser.call('sessions/current/confirm', { method: 'POST', body: { key: key.json['key'] } });
    const held = await withoutLastOctet(browser);
    expect((await end(id, idOf(key), browser)).status).toBeLessThan(300);
    const before = await account.state();
    expect((await held.finish('}')).code).toBe(code);
    expect(await account.state()).toEqual(before);
  });

  it('A39 is made when nothing has ended', async () => {
    const { browser } = await members.signedIn();
    await browser.call('sessions/current/confirm', {
      method: 'POST',
      body: { key: (await account.newKey()).json['key'] },
    });
    expect((await (await withoutLastOctet(browser)).finish('}')).status).toBe(200);
    const shown = await browser.call('v1/account/webhook');
    expect(shown.json['defaultWebhookUrl']).toBe('https://thief.example/hook');
  });
});

describe('A39 a request whose body was held back', () => {
  /** Authorized by its headers; its body lacks the last octet. */
  async function held(method: string, path: string, key: string, body: object): Promise<HeldRequest> {
    const text = JSON.stringify(body);
    const head = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${new URL(harness.baseUrl).host}`,
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${String(text.length)}`,
      'Connection: close',
    ];
    const port = Number(harness.environment['CONTROL_PLANE_PORT']);
    return heldRequest(port, `${head.join('\r\n')}\r\n\r\n${text.slice(0, -1)}`, ownAddress());
  }
  /** Waits until a plain call with the key has this status: processes remember its holder for some seconds. */
  const untilStatus = (key: string, path: string, status: number): Promise<void> =>
    until(
      `the key has status ${String(status)}`,
      WITHIN_MS,
      async () => (await harness.call(path, { key })).status === status,
    );
  const adminKeys = async (): Promise<number> =>
    (await harness.database.query('SELECT FROM admin_keys WHERE revoked_at IS NULL')).length;

  it.each<[string, number, number, (id: string) => Promise<Answer>]>([
    ['was revoked', 401, 401, (id) => root.post(`admin-keys/${id}/revoke`)],
    ['has another role', 200, 403, (id) => root.patch(`admin-keys/${id}`, { role: 'viewer' })],
  ])('A39 changes nothing with an admin key that %s meanwhile', async (_, plain, refused, end) => {
    const made = await root.post('admin-keys', { name: `held ${String(refused)}`, role: 'owner' });
    const key = String(made.json['key']);
    const request = await held('POST', '/v1/admin/admin-keys', key, { name: 'back', role: 'owner' });
    expect((await end(idOf(made))).status).toBeLessThan(300);
    if (plain === 401) await untilStatus(key, '/v1/admin/binds', 401);
    else await untilStatus(key, '/v1/admin/admin-keys', 403);
    const before = await adminKeys();
    expect((await request.finish('}')).status).toBe(refused);
    expect(await adminKeys()).toBe(before);
  });

  it('A39 opens no session with a key that was revoked meanwhile', async () => {
    const made = await account.newKey();
    const key = String(made.json['key']);
    const request = await held('POST', '/v1/verify', key, harness.createBody());
    await root.post(`keys/${idOf(made)}/revoke`);
    await untilStatus(key, '/v1/account', 401);
    const before = await harness.database.query('SELECT FROM sessions');
    expect(await request.finish('}')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(await harness.database.query('SELECT FROM sessions')).toHaveLength(before.length);
  });

  it('A39 goes on with a key that is still valid', async () => {
    const key = String((await account.newKey()).json['key']);
    const request = await held('POST', '/v1/verify', key, harness.createBody());
    // Longer than a request stays authorized by its headers.
    await delay(300);
    expect((await request.finish('}')).status).toBeLessThan(300);
  });
});

describe('A39 keys of an account that replace each other', () => {
  it('A39 wait for no deadlock, which would hold connections of the database', async () => {
    const maker = await account.newKey({ scopes: ['verify', 'account'] });
    const key = String(maker.json['key']);
    const make = () =>
      harness.call('/v1/account/keys', {
        ...{ method: 'POST', key, body: { name: 'pair', scopes: ['verify', 'account'] } },
      });
    const deadlocks = async (): Promise<number> => {
      const [row] = await harness.database.query<{ deadlocks: string }>(
        'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
      );
      return Number(row?.deadlocks);
    };
    const before = await deadlocks();
    for (let round = 0; round < 8; round += 1) {
      const [one, other] = [await make(), await make()];
      const answers = await Promise.all([
        harness.call(`/v1/account/keys/${idOf(other)}/rotate`, { method: 'POST', key: String(one.json['key']) }),
        harness.call(`/v1/account/keys/${idOf(one)}/rotate`, { method: 'POST', key: String(other.json['key']) }),
        harness.call('/v1/account/webhook/secret/rotate', { method: 'POST', key: String(one.json['key']) }),
      ]);
      // The second caller may have lost its own key.
      expect(answers.slice(0, 2).filter(({ status }) => status < 300).length).toBeGreaterThanOrEqual(1);
      expect(answers.every(({ status }) => status < 500)).toBe(true);
    }
    // Statistics of a connection are visible after its next idle moment.
    await harness.database.query('SELECT pg_stat_clear_snapshot()');
    expect(await deadlocks()).toBe(before);
  });
});
