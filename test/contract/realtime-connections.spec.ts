import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AccountStore } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { RealtimeClient, RealtimeClients, type Dial } from '../support/realtime-client.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let accounts: AccountStore;
const clients = new RealtimeClients();

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
});
afterEach(() => clients.closeAll());
afterAll(() => harness.close());

const connect = (dial: Dial = {}): Promise<RealtimeClient> => clients.connect(harness, dial);
const created = async (): Promise<string> => String((await harness.create()).json['id']);
const adminKey = (): string => harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';

async function ticketFor(sessionId: string): Promise<string> {
  return String((await harness.call(`/v1/verify/${sessionId}/realtime-ticket`, { method: 'POST' })).json['ticket']);
}

const accountOf = async (): Promise<string> => {
  const [row] = await harness.database.query<{ id: string }>('SELECT account_id AS id FROM api_keys LIMIT 1');
  return row?.id ?? '';
};

const TWICE = { 'sec-websocket-protocol': 'countersign.v1, countersign.v1' };

describe('the upgrade', () => {
  it.each([
    ['a wrong key', { key: `csk_live_${'0'.repeat(38)}` }, 401, 'UNAUTHORIZED'],
    ['something that is no bearer token', { key: null, headers: { authorization: 'Basic abc' } }, 401, 'UNAUTHORIZED'],
    ['another address', { path: '/v1/other' }, 404, 'NOT_FOUND'],
    ['an address below', { path: '/v1/realtime/x' }, 404, 'NOT_FOUND'],
    ['another subprotocol', { protocols: ['graphql-transport-ws'] }, 400, 'MALFORMED_REQUEST'],
    ['a subprotocol named twice', { headers: TWICE, protocols: [] }, 400, 'MALFORMED_REQUEST'],
    ['another version', { options: { protocolVersion: 8 } }, 400, 'MALFORMED_REQUEST'],
  ] as const)('is refused for %s, as any request is', async (_what, dial, status, code) => {
    const { protocols, ...rest } = { protocols: undefined, ...dial };
    const refused = await RealtimeClient.refused(harness, {
      ...rest,
      ...(protocols === undefined ? {} : { protocols: [...protocols] }),
    });
    expect(refused).toMatchObject({ status, code });
    expect(refused.headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^req_/) as string,
      'ratelimit-policy': expect.any(String) as string,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    });
    if (status === 401) expect(refused.headers['www-authenticate']).toBe('Bearer');
  });

  it('is refused to a key without the scope realtime', async () => {
    const { key } = await accounts.createApiKey(harness.database, {
      accountId: await accountOf(),
      kind: 'live',
      name: 'no realtime',
      scopes: ['verify'],
    });
    expect(await RealtimeClient.refused(harness, { key })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });

  it('takes no key from a URL', async () => {
    const client = await connect({ key: null, path: `/v1/realtime?key=${harness.demo.apiKey}` });
    expect(client.said[0]).toMatchObject({ type: 'welcome', authenticated: false });
  });

  it('needs no subprotocol', async () => {
    const client = await connect({ protocols: [] });
    expect(client.socket.protocol).toBe('');
  });
});

describe('the places of a control plane', () => {
  it('are not all taken by one account, by key or by ticket, and are free again', async () => {
    const { account } = await accounts.createAccount(harness.database, { name: 'Another' });
    const { key } = await accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'k' });
    const small = await harness.neighbour({ REALTIME_CONNECTIONS: '15' });
    const { baseUrl } = small;
    try {
      const ticket = await ticketFor(await created());
      const leaked = await Promise.all(Array.from({ length: 12 }, () => connect({ baseUrl })));
      const refused = await RealtimeClient.refused(harness, { baseUrl });
      expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
      expect(refused.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^[1-9]/) as string });
      const page = await connect({ baseUrl, key: null });
      expect((await page.ask({ type: 'auth', id: 1, ticket })).error).toMatchObject({ code: 'RATE_LIMITED' });
      expect(await page.end()).toBe(4429);
      expect((await connect({ baseUrl, key })).said[0]).toMatchObject({ authenticated: true });
      for (const client of leaked.splice(0, 2)) client.close();
      await until('there is room again', 20_000, async () => {
        const again = await connect({ baseUrl }).catch(() => null);
        return again !== null;
      });
    } finally {
      await small.stop();
    }
  });
});

describe('silent connections', () => {
  it('from 25 addresses do not block a browser from another address', async () => {
    const proxied = await harness.neighbour({ TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/8' });
    const baseUrl = proxied.baseUrl.replace('https', 'http');
    const from = (address: string): Record<string, string> => ({
      'x-forwarded-proto': 'https',
      'x-forwarded-for': address,
    });
    const silent: WebSocket[] = [];
    const codes: number[] = [];
    const openSilent = async (address: string): Promise<void> => {
      const url = `${baseUrl.replace('http', 'ws')}/v1/realtime`;
      const socket = new WebSocket(url, 'countersign.v1', { headers: from(address), perMessageDeflate: false });
      socket.on('error', () => undefined).on('close', (code) => codes.push(code));
      silent.push(socket);
      await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
    };
    try {
      // 25 addresses open 125 each: more than the limit of one address and, within the time that a silent connection has, of all.
      const addresses = Array.from({ length: 25 }, (_, nth) => `198.51.100.${nth + 1}`);
      const ticket = await ticketFor(await created());
      for (const address of addresses) await Promise.all(Array.from({ length: 125 }, () => openSilent(address)));
      const more = Promise.all(addresses.map((address) => openSilent(address)));
      const browser = await connect({ baseUrl, key: null, headers: from('203.0.113.1') });
      expect(await browser.ask({ type: 'auth', id: 1, ticket })).toEqual({ type: 'authenticated', id: 1 });
      await more;
      expect(silent.filter(({ readyState }) => readyState === WebSocket.OPEN).length).toBeLessThanOrEqual(2_000);
      expect(codes).toContain(4429);
    } finally {
      for (const socket of silent) socket.terminate();
      await proxied.stop();
    }
  }, 120_000);
});

describe('behind a TLS proxy', () => {
  it('the upgrade is let in when it came over https, and else refused before its key is looked at', async () => {
    const proxied = await harness.neighbour({ TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/8' });
    try {
      const baseUrl = proxied.baseUrl.replace('https', 'http');
      const refused = await RealtimeClient.refused(harness, { baseUrl, key: 'nonsense' });
      expect(refused).toMatchObject({ status: 403, code: 'HTTPS_REQUIRED' });
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
      expect((await connect({ baseUrl, headers })).said[0]).toMatchObject({ authenticated: true });
    } finally {
      await proxied.stop();
    }
  });
});

describe('a browser', () => {
  it('gets in with a ticket and sees eight fields of its session', async () => {
    const id = await created();
    const issued = await harness.call(`/v1/verify/${id}/realtime-ticket`, { method: 'POST' });
    expect(issued.status).toBe(200);
    expect(issued.json).toEqual({
      ticket: expect.stringMatching(/^rtk_[\w-]{43}$/) as string,
      expiresAt: expect.stringMatching(/Z$/) as string,
      url: `${harness.baseUrl.replace('https', 'wss')}/v1/realtime`,
    });
    const client = await connect({ key: null });
    expect(client.said[0]).toMatchObject({ authenticated: false });
    expect(await client.ask({ type: 'auth', id: 'a', ticket: issued.json['ticket'] })).toEqual({
      type: 'authenticated',
      id: 'a',
    });
    const seen = ['id', 'status', 'channel', 'fallbackUri', 'expiresAt', 'createdAt', 'approvedAt', 'latencyMs'];
    const { snapshot } = await client.subscribe(`session:${id}`);
    expect(Object.keys(snapshot ?? {})).toEqual(seen);
    await harness.mismatch(id);
    await harness.approve(id);
    const { data } = await client.event('verification.completed');
    expect(Object.keys(data ?? {})).toEqual(seen);
    expect(data).toMatchObject({ id, status: 'approved' });
    expect(client.events('verification.sender_mismatch')).toEqual([]);
  });

  it.each(['used', 'expired', 'unknown', 'no ticket'] as const)(
    'is sent away with a ticket that is %s',
    async (kind) => {
      const id = await created();
      const ticket = await ticketFor(id);
      if (kind === 'used') await (await connect({ key: null })).ask({ type: 'auth', id: 1, ticket });
      if (kind === 'expired')
        await harness.database.query(`UPDATE realtime_tickets SET expires_at = now() - interval '1 s'`);
      const sent = kind === 'unknown' ? `rtk_${'A'.repeat(43)}` : kind === 'no ticket' ? harness.demo.apiKey : ticket;
      const client = await connect({ key: null });
      expect((await client.ask({ type: 'auth', id: 1, ticket: sent })).error).toMatchObject({ code: 'UNAUTHORIZED' });
      expect(await client.end()).toBe(4401);
      expect(JSON.stringify(client.said)).not.toContain(sent);
    },
  );

  it('lets one of two in that race with the same ticket', async () => {
    const ticket = await ticketFor(await created());
    const both = await Promise.all([connect({ key: null }), connect({ key: null })]);
    const answers = await Promise.all(both.map((client) => client.ask({ type: 'auth', id: 1, ticket })));
    expect(answers.map(({ type }) => type).sort()).toEqual(['authenticated', 'error']);
  });

  it('is sent away when it asks for another session', async () => {
    const client = await connect({ key: null });
    await client.ask({ type: 'auth', id: 1, ticket: await ticketFor(await created()) });
    const other = await client.subscribe(`session:${await created()}`);
    expect(other.error).toMatchObject({ code: 'FORBIDDEN' });
    expect(await client.end()).toBe(4403);
  });

  it('must authenticate before anything else, and within 5 seconds', async () => {
    const client = await connect({ key: null });
    const early = await client.subscribe(`session:${await created()}`);
    expect(early.error).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await client.end()).toBe(4408);
  });

  it('gets no ticket for a session that is unknown, foreign or expired', async () => {
    const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
    const { key } = await accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'k' });
    const id = await created();
    const ask = (sessionId: string, more: object = {}) =>
      harness.call(`/v1/verify/${sessionId}/realtime-ticket`, { method: 'POST', ...more });
    expect(await ask('sess_00000000000000000000000000')).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(await ask(id, { key })).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(await ask(id, { key: adminKey() })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    await harness.database.query(
      `UPDATE sessions SET created_at = created_at - interval '1 h', expires_at = expires_at - interval '1 h'`,
    );
    expect(await ask(id)).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
  });

  it('is sent away when the key that asked for its ticket is revoked, and gets in with no ticket of it', async () => {
    const accountId = await accountOf();
    const { id, key } = await accounts.createApiKey(harness.database, {
      accountId,
      kind: 'live',
      name: 'to be revoked',
    });
    const session = await created();
    const issue = async (): Promise<unknown> =>
      (await harness.call(`/v1/verify/${session}/realtime-ticket`, { method: 'POST', key })).json['ticket'];
    const [used, unused] = [await issue(), await issue()];
    const client = await connect({ key: null });
    await client.ask({ type: 'auth', id: 1, ticket: used });
    await harness.call(`/v1/admin/keys/${renderId('key', id)}/revoke`, { method: 'POST', key: adminKey() });
    const late = await connect({ key: null });
    expect((await late.ask({ type: 'auth', id: 1, ticket: unused })).error).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await client.end()).toBe(4401);
  });

  it('leaves no ticket in clear in the database', async () => {
    const ticket = await ticketFor(await created());
    const rows = await harness.database.query<{ row: string }>('SELECT t::text AS row FROM realtime_tickets t');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.some(({ row }) => row.includes(ticket) || row.includes(ticket.slice(4)))).toBe(false);
  });
});

describe('a connection', () => {
  it('gets an error for an invalid message, and is closed with the third', async () => {
    const client = await connect();
    client.send('{"type":');
    expect(await client.next('error')).toMatchObject({ error: { code: 'MALFORMED_REQUEST' } });
    expect(await client.ask({ type: 'shout', id: 'x' })).toMatchObject({ type: 'error', id: 'x' });
    client.send(Buffer.from([1, 2, 3]));
    expect(await client.next('error')).toMatchObject({ error: { code: 'MALFORMED_REQUEST' } });
    expect(await client.end()).toBe(4400);
  });

  it('may ask for channels that are none as often as it likes', async () => {
    const client = await connect();
    for (const channel of ['session:what-somebody-typed', '', 'news', 'account:me']) {
      expect((await client.subscribe(channel)).error).toMatchObject({ code: 'VALIDATION_ERROR' });
    }
    expect(await client.ask({ type: 'ping', id: 1 })).toEqual({ type: 'pong', id: 1 });
  });

  it('is closed when it sends more than 20 messages in a second', async () => {
    const client = await connect();
    for (let id = 0; id < 40; id += 1) client.send({ type: 'ping', id });
    expect(await client.end()).toBe(4429);
  });

  it('is closed when it sends a frame over 16 KiB', async () => {
    const client = await connect();
    client.send({ type: 'ping', id: 'x'.repeat(16 * 1024) });
    expect(await client.end()).toBe(1009);
  });

  it('is closed when it sends invalid UTF-8', async () => {
    const client = await connect();
    client.socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
    expect(await client.end()).toBe(1007);
  });

  it('is closed when it breaks the protocol of WebSockets, and others do not notice', async () => {
    const [client, other] = [await connect(), await connect()];
    // A frame that is not masked (RFC 6455, 5.1).
    client.socket.send('{}', { mask: false });
    expect(await client.end()).toBe(1002);
    expect(await other.ask({ type: 'ping', id: 1 })).toEqual({ type: 'pong', id: 1 });
  });

  it('answers protocol pings', async () => {
    const client = await connect();
    const pong = new Promise((resolve) => client.socket.once('pong', resolve));
    client.socket.ping('x');
    expect(String(await pong)).toBe('x');
  });

  it('is closed within 5 seconds of the revocation of its key', async () => {
    const { id, key } = await accounts.createApiKey(harness.database, {
      accountId: await accountOf(),
      kind: 'live',
      name: 'to be revoked',
    });
    const client = await connect({ key });
    const spared = await connect();
    await harness.call(`/v1/admin/keys/${renderId('key', id)}/revoke`, { method: 'POST', key: adminKey() });
    expect(await client.end()).toBe(4401);
    expect(await spared.ask({ type: 'ping', id: 1 })).toEqual({ type: 'pong', id: 1 });
  });

  it('gets a request to reconnect later when the server stops, and is closed with 1001', async () => {
    const neighbour = await harness.neighbour();
    const client = await connect({ baseUrl: neighbour.baseUrl });
    await neighbour.stop();
    expect(await client.next('closing')).toEqual({
      type: 'closing',
      reconnectAfterMs: expect.any(Number) as number,
    });
    expect(await client.end()).toBe(1001);
  });

  it('is not waited for when it is half a handshake', async () => {
    const neighbour = await harness.neighbour();
    const { port } = new URL(neighbour.baseUrl);
    const half = connectTls({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    const silent = connectTcp(Number(port), '127.0.0.1');
    const ended = [half, silent].map(
      (socket) => new Promise((resolve) => socket.on('error', resolve).on('close', resolve)),
    );
    await Promise.all([once(half, 'secureConnect'), once(silent, 'connect')]);
    half.write('GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
    // A complete request after it: when it is answered, the incomplete one has been read.
    await harness.call('/v1/openapi.json', { baseUrl: neighbour.baseUrl });
    await neighbour.stop();
    expect(harness.log.filter((line) => line.includes('stop step timed out'))).toEqual([]);
    silent.destroy();
    await Promise.all(ended);
  });
});
