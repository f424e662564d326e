import { renderId } from '@countersign/ids';
import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { type Answer, type Call, ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let root: AdminCalls;
let owner: ConsoleBrowser;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  root = new AdminCalls(harness);
  owner = await ConsoleBrowser.withKey(harness, (await root.colleague('owner', 'chief')).key);
});
afterAll(() => harness.close());

/** A call for an account, that of the demo unless another is named. */
const callFor = (
  browser: ConsoleBrowser,
  path: string,
  { account = harness.demo.accountId, headers = {}, ...call }: Call & { readonly account?: string } = {},
): Promise<Answer> => browser.call(path, { ...call, headers: { 'countersign-account': account, ...headers } });

describe('an owner of the installation who names an account', () => {
  it('reads the account as its developers do, in the mode of the header', async () => {
    const { accountId, brandId } = harness.demo;
    const { json } = await callFor(owner, 'v1/account');
    expect([json['id'], (json['key'] as { kind: string }).kind]).toEqual([accountId, 'live']);
    expect(dataOf(await callFor(owner, 'v1/account/brands')).map(({ id }) => id)).toEqual([brandId]);
    await harness.create({ phone: PHONE }, { key: harness.demo.testApiKey });
    const headers = { 'countersign-mode': 'test' };
    expect((await callFor(owner, 'v1/usage', { headers })).json).toMatchObject({ verifications: { total: 1 } });
    expect((await callFor(owner, 'v1/usage')).json).toMatchObject({ verifications: { total: 0 } });
  });

  it('changes it under the own name', async () => {
    const body = { name: 'quickstart', scopes: ['verify'] };
    const made = await callFor(owner, 'v1/account/keys', { method: 'POST', body });
    expect(made.status).toBe(201);
    expect((await harness.call('/v1/verify', { key: String(made.json['key']) })).status).toBe(200);
    expect(await root.notes(idOf(made))).toMatchObject([{ actor: 'chief', action: 'create' }]);
    const rootBrowser = await ConsoleBrowser.withKey(harness, root.key);
    const byRoot = await callFor(rootBrowser, 'v1/account/keys', { method: 'POST', body });
    expect(await root.notes(idOf(byRoot))).toMatchObject([{ actor: 'root', action: 'create' }]);
  });

  it('reads its sessions under /v1/admin alone, where each read is audited', async () => {
    const session = idOf(await harness.create());
    for (const path of ['v1/verify', `v1/verify/${session}`])
      expect((await callFor(owner, path)).code).toBe('FORBIDDEN');
    const body = harness.createBody();
    expect((await callFor(owner, 'v1/verify', { method: 'POST', body })).code).toBe('FORBIDDEN');
    expect((await callFor(owner, `v1/verify/${session}`, { method: 'DELETE' })).code).toBe('FORBIDDEN');
    expect((await callFor(owner, 'v1/admin/accounts')).code).toBe('FORBIDDEN');
  });

  it('reads deliveries with an entry of the audit log', async () => {
    const { accountId } = harness.demo;
    const before = (await root.notes(accountId)).length;
    expect((await callFor(owner, 'v1/webhooks/deliveries?limit=5')).status).toBe(200);
    const notes = await root.notes(accountId);
    expect(notes).toHaveLength(before + 1);
    const entry = { actor: 'chief', action: 'read', resource: 'deliveries' };
    const after = { mode: 'live', path: '/v1/webhooks/deliveries' };
    expect(notes).toContainEqual(expect.objectContaining({ ...entry, after }));
  });

  it('sends a test webhook', async () => {
    const body = { url: 'https://acme.example/hook' };
    const sent = await callFor(owner, 'v1/webhooks/test', { method: 'POST', body });
    expect([sent.status, sent.json['type']]).toEqual([202, 'webhook.test']);
  });

  it('is from ADMIN_ALLOWED_CIDRS', async () => {
    const other = await harness.neighbour({ ADMIN_ALLOWED_CIDRS: '192.0.2.0/24' });
    const headers = { 'countersign-account': harness.demo.accountId };
    expect((await owner.call('v1/account', { baseUrl: other.baseUrl, headers })).status).toBe(401);
    await other.stop();
  });
});

describe('the header Countersign-Account', () => {
  it.each(['x', 'acct_00000000000000000000000000', ''])('names no account with %j', async (account) => {
    expect((await callFor(owner, 'v1/account', { account })).code).toBe('FORBIDDEN');
  });

  it('does not name the account of sign-ins', async () => {
    const account = renderId('acct', SIGN_IN_ACCOUNT_ID);
    expect((await callFor(owner, 'v1/account', { account })).code).toBe('FORBIDDEN');
  });

  it.each(['operator', 'support', 'viewer'] as const)('gives nothing to the role %s', async (role) => {
    const browser = await ConsoleBrowser.withKey(harness, (await root.colleague(role, `a ${role}`)).key);
    for (const path of ['v1/account', 'v1/account/keys', 'v1/usage', 'v1/webhooks/deliveries'])
      expect((await callFor(browser, path)).code).toBe('FORBIDDEN');
    expect((await callFor(browser, 'v1/admin/accounts')).status).toBe(200);
  });

  it('gives nothing to keys', async () => {
    const headers = { 'countersign-account': harness.demo.accountId };
    expect((await harness.call('/v1/account', { key: root.key, headers })).code).toBe('FORBIDDEN');
    const other = idOf(await root.post('accounts', { name: 'Other' }));
    const usage = await harness.call('/v1/usage', { headers: { 'countersign-account': other } });
    expect(usage.status).toBe(200);
  });
});
