import { DEFAULT_SCOPES } from '@countersign/accounts/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { PhoneMembers } from '../support/phone-sign-in.js';

const AN_HOUR = 300;

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

const keyOf = (kind: 'live' | 'test'): Promise<Answer> =>
  admin.post('keys', {
    ...{ accountId: harness.demo.accountId, name: 'developer', kind, scopes: [...DEFAULT_SCOPES, 'account'] },
  });

const countEntries = async (): Promise<number> => {
  const [row] = await harness.database.query<{ entries: number }>(
    'SELECT count(*)::int AS entries FROM audit_entries WHERE resource_id = $1',
    [harness.demo.accountId],
  );
  return row?.entries ?? NaN;
};

const isRefused = ({ status, code, headers }: Answer): void => {
  expect([status, code]).toEqual([429, 'RATE_LIMITED']);
  const retryAfter = Number(headers['retry-after']);
  expect(retryAfter).toBeGreaterThan(3_000);
  expect(retryAfter).toBeLessThanOrEqual(3_600);
};

describe('the changes of an account', () => {
  it('are 300 in an hour for all of its keys together, each in the audit log; none more, but a key is revoked', async () => {
    const [one, other] = [await keyOf('live'), await keyOf('live')];
    const call = (method: 'PATCH' | 'POST', path: string, body?: object, key = one): Promise<Answer> =>
      harness.call(path, { method, key: String(key.json['key']), ...(body === undefined ? {} : { body }) });
    const before = await countEntries();
    for (let made = 0; made < AN_HOUR; made += 1) {
      const body = { defaultWebhookUrl: `https://acme.example/${String(made)}` };
      expect((await call('PATCH', '/v1/account/webhook', body, made % 2 === 0 ? one : other)).status).toBe(200);
    }
    expect(await countEntries()).toBe(before + AN_HOUR);
    isRefused(await call('PATCH', '/v1/account/webhook', { defaultWebhookUrl: null }));
    isRefused(await call('PATCH', `/v1/account/brands/${harness.demo.brandId}`, { instruction: 'Send it.' }));
    isRefused(await call('POST', '/v1/account/keys', { name: 'further' }));
    isRefused(await call('POST', `/v1/account/keys/${idOf(other)}/rotate`));
    isRefused(await call('POST', '/v1/account/webhook/secret/rotate'));
    isRefused(await call('POST', '/v1/webhooks/secret/rotate'));
    expect(await countEntries()).toBe(before + AN_HOUR);
    expect((await call('POST', `/v1/account/keys/${idOf(other)}/revoke`)).status).toBe(202);
  });

  it('of engineers have no such limit', async () => {
    const root = await ConsoleBrowser.withKey(harness, admin.key);
    const changed = await root.call('v1/account/webhook', {
      ...{ method: 'PATCH', body: { defaultWebhookUrl: null } },
      headers: { 'countersign-account': harness.demo.accountId },
    });
    expect(changed.status).toBe(200);
    const url = `accounts/${harness.demo.accountId}`;
    expect((await admin.patch(url, { defaultWebhookUrl: 'https://acme.example/' })).status).toBe(200);
  });

  it('in test mode are counted apart, those of its members with those of its keys', async () => {
    const { browser } = await new PhoneMembers(harness).signedIn('developer');
    const key = String((await keyOf('test')).json['key']);
    const body = { testWebhookUrl: null };
    for (let made = 1; made < AN_HOUR; made += 1)
      expect((await harness.call('/v1/account/webhook', { method: 'PATCH', key, body })).status).toBe(200);
    const change = (): Promise<Answer> =>
      browser.call('v1/account/webhook', { method: 'PATCH', headers: { 'countersign-mode': 'test' }, body });
    expect((await change()).status).toBe(200);
    isRefused(await change());
  });
});
