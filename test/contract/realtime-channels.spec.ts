import { AccountStore, type Scope } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { type Dial, type RealtimeClient, RealtimeClients } from '../support/realtime-client.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let foreign: { readonly accountId: string; readonly key: string };
const clients = new RealtimeClients();

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
  const { key } = await accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'k' });
  foreign = { accountId: account.id, key };
});
afterEach(() => clients.closeAll());
afterAll(() => harness.close());

const connect = (dial: Dial = {}): Promise<RealtimeClient> => clients.connect(harness, dial);
async function keyWith(scopes: readonly Scope[]): Promise<string> {
  const store = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const { key } = await store.createApiKey(harness.database, {
    accountId: parseId('acct', harness.demo.accountId) ?? '',
    kind: 'live',
    name: scopes.join(' '),
    scopes: [...scopes],
  });
  return key;
}
/** The fields of a session in the view of a ticket. */
const SHOWN = ['id', 'status', 'channel', 'fallbackUri', 'expiresAt', 'createdAt', 'approvedAt', 'latencyMs'];
const created = async (): Promise<string> => String((await harness.create()).json['id']);

describe('a server on the live channel', () => {
  it('is welcomed as authenticated, with the subprotocol and the heartbeat', async () => {
    const client = await connect();
    expect(client.said[0]).toEqual({ type: 'welcome', authenticated: true, heartbeatMs: 25_000 });
    expect(client.socket.protocol).toBe('countersign.v1');
  });

  it('sees the Session as GET gives it, and then its approval', async () => {
    const client = await connect();
    const id = await created();
    const pending = await harness.call(`/v1/verify/${id}`);
    expect(await client.subscribe(`session:${id}`)).toEqual({
      type: 'subscribed',
      id: `s-session:${id}`,
      channel: `session:${id}`,
      snapshot: pending.json,
    });
    await harness.approve(id);
    const event = await client.event('verification.completed');
    const approved = await harness.call(`/v1/verify/${id}`);
    expect(event).toEqual({
      type: 'event',
      channel: `session:${id}`,
      id: expect.stringMatching(/^evt_/) as string,
      event: 'verification.completed',
      timestamp: approved.json['approvedAt'],
      data: approved.json,
    });
    expect(event.data).toHaveProperty('authEntropy');
  });

  it('receives every event of its account, and none of another', async () => {
    const client = await connect();
    const other = await connect({ key: foreign.key });
    const accountId = harness.demo.accountId;
    expect(await client.subscribe(`account:${accountId}`)).toMatchObject({ type: 'subscribed', snapshot: null });
    expect(await other.subscribe(`account:${accountId}`)).toMatchObject({ error: { code: 'FORBIDDEN' } });
    const id = await created();
    await harness.mismatch(id);
    expect((await client.event('verification.sender_mismatch')).data).toMatchObject({ sessionId: id, accountId });
    await harness.call(`/v1/verify/${id}`, { method: 'DELETE' });
    expect((await client.event('verification.cancelled')).data).toMatchObject({ id, status: 'cancelled' });
    expect(other.events()).toEqual([]);
  });

  it('receives an event of a sent code, and of each receipt', async () => {
    const key = harness.demo.testApiKey;
    const client = await connect({ key });
    const id = String((await harness.create({ phone: '+15005550006' }, { key })).json['id']);
    await client.subscribe(`session:${id}`);
    expect(await harness.call(`/v1/verify/${id}/send-sms`, { method: 'POST', key })).toMatchObject({ status: 200 });
    expect((await client.event('verification.updated')).data).toMatchObject({ id, status: 'pending' });
    expect((await client.event('verification.otp_delivery')).data).toMatchObject({ sessionId: id, state: 'submitted' });
    const ids = client.events().map((event) => event['id']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gets the snapshot of a session that has ended, and no event after it', async () => {
    const client = await connect();
    const id = await created();
    await harness.approve(id);
    const { snapshot } = await client.subscribe(`session:${id}`);
    expect(snapshot).toMatchObject({ status: 'approved' });
    await client.ask({ type: 'ping', id: 'p' });
    expect(client.events()).toEqual([]);
  });

  it('with the scope realtime alone reads sessions as a ticket holder does, on both kinds of channel', async () => {
    const client = await connect({ key: await keyWith(['realtime']) });
    const id = await created();
    await client.subscribe(`account:${harness.demo.accountId}`);
    expect(Object.keys((await client.subscribe(`session:${id}`)).snapshot ?? {})).toEqual(SHOWN);
    await harness.mismatch(id);
    await client.event('verification.sender_mismatch');
    await harness.approve(id);
    await until('both channels have the approval', 10_000, () => client.events('verification.completed').length === 2);
    const approvals = client.events('verification.completed');
    expect(approvals.map(({ channel }) => String(channel).split(':')[0]).sort()).toEqual(['account', 'session']);
    for (const { data } of approvals) expect(Object.keys(data ?? {})).toEqual(SHOWN);
    expect(JSON.stringify(client.said)).not.toMatch(/authEntropy|4155552671/);
    const { snapshot } = await client.subscribe(`session:${id}`);
    expect(Object.keys(snapshot ?? {})).toEqual(SHOWN);
  });

  it('with the scopes realtime and verify sees whole sessions', async () => {
    const client = await connect({ key: await keyWith(['realtime', 'verify']) });
    const id = await created();
    await harness.approve(id);
    const { snapshot } = await client.subscribe(`session:${id}`);
    expect(snapshot).toEqual((await harness.call(`/v1/verify/${id}`)).json);
    expect(snapshot).toHaveProperty('authEntropy');
  });

  it('is closed when its key loses the scope that showed it whole sessions', async () => {
    const key = await keyWith(['realtime', 'verify']);
    const client = await connect({ key });
    const admin = new AdminCalls(harness);
    const keys = dataOf(await admin.get(`keys?accountId=${harness.demo.accountId}&limit=100`));
    const id = String(keys.find(({ prefix }) => key.startsWith(String(prefix)))?.['id']);
    const changed = await admin.patch(`keys/${id}`, { scopes: ['realtime'] });
    expect(changed.status).toBe(200);
    expect(await client.end()).toBe(4403);
  });

  it('does not learn whether a foreign session exists', async () => {
    const client = await connect({ key: foreign.key });
    const unknown = await client.subscribe('session:sess_00000000000000000000000000');
    const theirs = await client.subscribe(`session:${await created()}`);
    expect(unknown.error).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(theirs.error).toEqual(unknown.error);
    expect(client.closed).toBeNull();
  });

  it('receives nothing once it has unsubscribed', async () => {
    const client = await connect();
    const id = await created();
    const channel = `session:${id}`;
    await client.subscribe(channel);
    expect(await client.ask({ type: 'unsubscribe', id: 2, channel })).toEqual({ type: 'unsubscribed', id: 2, channel });
    const witness = await connect();
    await witness.subscribe(channel);
    await harness.approve(id);
    await witness.event('verification.completed');
    await client.ask({ type: 'ping', id: 'p' });
    expect(client.events()).toEqual([]);
  });

  it('gets its answers in the order of its questions', async () => {
    const client = await connect();
    const id = await created();
    client.send({ type: 'subscribe', id: 1, channel: `session:${id}` });
    client.send({ type: 'ping', id: 2 });
    client.send({ type: 'unsubscribe', id: 3, channel: `session:${id}` });
    client.send({ type: 'ping', id: 4 });
    await client.ask({ type: 'ping', id: 5 });
    expect(client.said.slice(1).map((said) => said['id'])).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('the binds channel', () => {
  const adminKey = () => harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';
  const bind = { hosts: [{ host: '127.0.0.1', port: 2775 }], systemId: 'live', password: 'secret' };

  it('shows an engineer all binds, and then each that changes', async () => {
    const client = await connect({ key: adminKey() });
    const made = await harness.call('/v1/admin/binds', { method: 'POST', key: adminKey(), body: bind });
    const listed = await harness.call('/v1/admin/binds', { key: adminKey() });
    expect((await client.subscribe('binds')).snapshot).toEqual(listed.json['data']);
    const id = String(made.json['id']);
    const changed = await harness.call(`/v1/admin/binds/${id}/disable`, { method: 'POST', key: adminKey() });
    expect(await client.event('bind.updated')).toMatchObject({
      channel: 'binds',
      id: expect.stringMatching(/^evt_/) as string,
      data: changed.json,
    });
  });

  it('shows a viewer what GET shows, and closes when the role changes', async () => {
    const phone = '+4915112345678';
    const made = await harness.call('/v1/admin/admin-keys', {
      ...{ method: 'POST', key: adminKey(), body: { name: 'watcher', role: 'viewer' } },
    });
    const key = String(made.json['key']);
    const rewrite = [{ of: 'destination', match: phone, exact: true, replace: '+4915100000000' }];
    const added = await harness.call('/v1/admin/binds', {
      ...{ method: 'POST', key: adminKey(), body: { ...bind, name: 'rewriting', submitOptions: { rewrite } } },
    });
    const client = await connect({ key });
    const listed = await harness.call('/v1/admin/binds', { key });
    expect((await client.subscribe('binds')).snapshot).toEqual(listed.json['data']);
    await harness.call(`/v1/admin/binds/${String(added.json['id'])}/disable`, { method: 'POST', key: adminKey() });
    await client.event('bind.updated');
    expect(JSON.stringify(client.said)).not.toContain(phone);
    const path = `/v1/admin/admin-keys/${String(made.json['id'])}`;
    await harness.call(path, { method: 'PATCH', key: adminKey(), body: { role: 'operator' } });
    await expect.poll(() => client.closed?.code, { timeout: 10_000 }).toBe(4403);
  });

  it('is for engineers alone, who receive nothing else', async () => {
    const server = await connect();
    expect((await server.subscribe('binds')).error).toMatchObject({ code: 'FORBIDDEN' });
    const engineer = await connect({ key: adminKey() });
    const refused = await engineer.subscribe(`account:${harness.demo.accountId}`);
    expect(refused.error).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('while the database is away', () => {
  it('a connection stays, gets a retryable error, and receives later events', async () => {
    const client = await connect();
    const [watched, other, given] = [await created(), await created(), await created()];
    for (const id of [watched, given]) await client.subscribe(`session:${id}`);
    await harness.line.cut();
    try {
      const away = await client.subscribe(`session:${other}`);
      expect(away.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      // A refused repeated subscribe ends the earlier subscription, and the client is informed.
      const again = await client.subscribe(`session:${given}`, 'again');
      expect(again.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(await client.next('unsubscribed')).toEqual({ type: 'unsubscribed', channel: `session:${given}` });
    } finally {
      await harness.line.mend();
    }
    await until('the session can be read', 20_000, async () => {
      const answer = await client.subscribe(`session:${other}`);
      return answer.type === 'subscribed';
    });
    await harness.approve(watched);
    expect((await client.event('verification.completed')).data).toMatchObject({ id: watched });
  });
});
