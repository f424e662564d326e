import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { AccountConnectionQuota, SubscriptionQuota } from './account-connection-quota.js';
import { BufferedOctets } from './buffered-octets.js';
import type { Listener } from './connection-rules.js';
import { RealtimeConnection } from './realtime-connection.js';
import { RealtimeLimits } from './realtime-limits.js';

const PIECE = Buffer.alloc(64 * 1024, 'x');
const MIB = 1024 * 1024;

const servers: WebSocketServer[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

interface Parts {
  readonly listener?: Listener;
  readonly nowMs?: () => number;
  readonly subscriptions?: SubscriptionQuota;
  readonly buffered?: BufferedOctets;
  readonly connections?: AccountConnectionQuota;
}

const listenerOf = (accountId: string): Listener => ({
  kind: 'key',
  tenant: { accountId, mode: 'live' },
  keyId: 'k',
  keyDigests: ['d'],
  view: 'full',
  limits: {},
});

/** A connection over a real socket, and the client at its other end. */
async function connected({
  listener = listenerOf('a'),
  nowMs = () => performance.now(),
  subscriptions = new SubscriptionQuota(2),
  buffered = new BufferedOctets(),
  connections = new AccountConnectionQuota(10),
}: Parts = {}): Promise<{ connection: RealtimeConnection; client: WebSocket; ours: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  const [[ours]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [[WebSocket], unknown];
  const limits = new RealtimeLimits(connections, subscriptions, buffered);
  const connection = new RealtimeConnection(ours, listener, '127.0.0.1', limits, nowMs);
  return { connection, client, ours };
}

describe('a connection whose client does not read', () => {
  it('is closed with 4503 once 1 MiB is buffered, and buffers no more', async () => {
    const { connection, client, ours } = await connected();
    client.pause();
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    let most = 0;
    // The socket buffers of the operating system take a few MiB first.
    for (let sent = 0; connection.open && sent < 4_096; sent += 1) {
      connection.send(PIECE);
      most = Math.max(most, ours.bufferedAmount);
      if (sent % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connection.open).toBe(false);
    expect(most).toBeLessThan(2 * MIB);
    for (let replaced = 0; replaced < 1_000; replaced += 1) connection.send(PIECE);
    expect(ours.bufferedAmount).toBeLessThan(2 * MIB);
    client.resume();
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(4503);
    expect(await closed).toBe(4503);
  });
});

describe('a connection whose client does not read small frames', () => {
  it('is closed with 4503 by their number, and each counts for more than its octets', async () => {
    const buffered = new BufferedOctets();
    const { connection, client, ours } = await connected({ buffered });
    client.pause();
    // Fills the socket buffers of the operating system.
    for (let sent = 0; ours.bufferedAmount === 0 && sent < 4_096; sent += 1) {
      connection.send(PIECE);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const before = { octets: ours.bufferedAmount, counted: buffered.octets };
    for (let sent = 0; sent < 4_000; sent += 1) connection.send('{"type":"pong","id":1}');
    expect(connection.open).toBe(true);
    expect(ours.bufferedAmount - before.octets).toBeLessThan(128 * 1024);
    expect(buffered.octets - before.counted).toBeGreaterThan(4_000 * 512);
    for (let sent = 0; sent < 200; sent += 1) connection.send('{"type":"pong","id":1}');
    expect(connection.open).toBe(false);
    client.resume();
    expect((await once(client, 'close'))[0]).toBe(4503);
    await expect.poll(() => buffered.octets).toBe(0);
  });
});

describe('connections whose readers do not read', () => {
  /** A connection of the account, with so many octets that wait for its client. */
  async function behind(
    buffered: BufferedOctets,
    accountId: string,
    octets: number,
  ): Promise<{
    readonly closed: Promise<number>;
    readonly client: WebSocket;
    readonly connection: RealtimeConnection;
  }> {
    const { connection, client, ours } = await connected({ listener: listenerOf(accountId), buffered });
    client.pause();
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    // The two ends of the line take a few mebibytes first.
    for (let sent = 0; connection.open && ours.bufferedAmount < octets && sent < 4_096; sent += 1) {
      connection.send(PIECE);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { closed, client, connection };
  }

  it('are closed with 4503 beyond the share of their account, the one that is furthest behind first', async () => {
    const buffered = new BufferedOctets({ octets: 8 * MIB, octetsOfTenant: MIB });
    const most = await behind(buffered, 'a', 0.6 * MIB);
    const less = await behind(buffered, 'a', 0.3 * MIB);
    const other = await behind(buffered, 'b', 0.3 * MIB);
    const third = await behind(buffered, 'a', 0.3 * MIB);
    expect(await most.closed).toBe(4503);
    expect([less, other, third].map(({ connection }) => connection.open)).toEqual([true, true, true]);
    expect(buffered.octets).toBeLessThan(1.5 * MIB);
  });

  it('are closed with 4503 beyond the budget of the process, those of the account with the most first', async () => {
    const buffered = new BufferedOctets({ octets: MIB, octetsOfTenant: 0.9 * MIB });
    const few = await behind(buffered, 'b', 0.3 * MIB);
    const many = await behind(buffered, 'a', 0.5 * MIB);
    const last = await behind(buffered, 'c', 0.3 * MIB);
    expect(await many.closed).toBe(4503);
    expect([few, last].map(({ connection }) => connection.open)).toEqual([true, true]);
  });

  it('count no longer once their clients have read, or have gone', async () => {
    const buffered = new BufferedOctets();
    const reader = await behind(buffered, 'a', 0.3 * MIB);
    const gone = await behind(buffered, 'b', 0.3 * MIB);
    expect(buffered.octets).toBeGreaterThan(0.5 * MIB);
    reader.client.resume();
    gone.client.terminate();
    await gone.closed;
    await expect.poll(() => buffered.octets).toBe(0);
    expect(reader.connection.open).toBe(true);
  });
});

describe('a connection', () => {
  it('handles its messages one at a time, in order of receipt', async () => {
    const { connection, client } = await connected();
    const order: string[] = [];
    const waiting: (() => void)[] = [];
    connection.handleWith(
      new Map([
        [
          'ping',
          async ({ id }) => {
            order.push(`begins ${id}`);
            await new Promise<void>((resolve) => {
              waiting.push(resolve);
              client.emit('begun');
            });
            order.push(`ends ${id}`);
          },
        ],
      ]),
    );
    for (const id of [1, 2]) client.send(JSON.stringify({ type: 'ping', id }));
    await once(client, 'begun');
    expect(order).toEqual(['begins 1']);
    const second = once(client, 'begun');
    waiting[0]?.();
    await second;
    expect(order).toEqual(['begins 1', 'ends 1', 'begins 2']);
    waiting[1]?.();
  });

  it('is closed with 4429 after more than 20 pings in a second, but not for that many messages and pongs', async () => {
    const { connection, client } = await connected({ nowMs: () => 0 });
    let handled = 0;
    connection.handleWith(new Map([['ping', () => Promise.resolve(void (handled += 1))]]));
    for (let id = 0; id < 20; id += 1) {
      client.send(JSON.stringify({ type: 'ping', id }));
      client.pong();
    }
    await vi.waitFor(() => expect(handled).toBe(20));
    expect(connection.open).toBe(true);
    client.ping();
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(4429);
  });

  it('is dropped when its client floods it after the close frame', async () => {
    const { connection, client } = await connected();
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    client.pause();
    for (let nth = 0; nth < 2_000; nth += 1) client.pong();
    expect(await closed).toBe(4429);
  });

  it('waits beyond its deadline for a ticket that is being redeemed, and for nothing else', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { connection, client } = await connected({ listener: { kind: 'nobody' } });
    let answer = (): void => undefined;
    connection.handleWith(
      new Map([['auth', () => new Promise<void>((resolve) => client.emit('asked', (answer = resolve)))]]),
    );
    client.send(JSON.stringify({ type: 'auth', id: 1, ticket: 't' }));
    await once(client, 'asked');
    vi.advanceTimersByTime(7_000);
    expect(connection.open).toBe(true);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(500);
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(4408);
  });

  it('is not counted for an account after it has closed', async () => {
    const connections = new AccountConnectionQuota(10);
    const counted = vi.spyOn(connections, 'add');
    const { connection, client } = await connected({ listener: { kind: 'nobody' }, connections });
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    client.close();
    await closed;
    expect(
      connection.admit({ kind: 'ticket', sessionId: 's', tenant: { accountId: 'a', mode: 'live' }, keyId: 'k' }),
    ).toBe(false);
    expect(counted).not.toHaveBeenCalled();
  });

  it('removes its subscriptions when it closes', async () => {
    const { connection, client } = await connected();
    const left: string[] = [];
    for (const channel of ['a', 'b', 'a']) connection.addSubscription(channel, () => left.push(channel));
    expect(left).toEqual(['a']);
    expect(connection.channelsBut('a')).toBe(1);
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    client.close(1000);
    expect(await closed).toBe(1000);
    expect(left.sort()).toEqual(['a', 'a', 'b']);
  });
});

describe('the channels of a connection with a key', () => {
  it('count for its account once each until they are removed, and all are removed when it closes', async () => {
    const subscriptions = new SubscriptionQuota(2);
    const { connection, client } = await connected({ subscriptions });
    const tenant = { accountId: 'a', mode: 'live' } as const;
    connection.onClose(() => undefined);
    for (const channel of ['one', 'one', 'two']) connection.addSubscription(channel, () => undefined);
    expect(subscriptions.allows(tenant)).toBe(false);
    expect([connection.accountHasCapacityFor('one'), connection.accountHasCapacityFor('three')]).toEqual([true, false]);
    connection.removeSubscription('one');
    connection.removeSubscription('one');
    expect(connection.accountHasCapacityFor('three')).toBe(true);
    connection.addSubscription('one', () => undefined);
    const closed = new Promise((resolve) => connection.onClose(resolve));
    client.close();
    await closed;
    for (const channel of ['three', 'four']) {
      expect(subscriptions.allows(tenant), channel).toBe(true);
      subscriptions.add(tenant);
    }
  });

  it('are removed at once, uncounted, when the connection has closed', async () => {
    const subscriptions = new SubscriptionQuota(1);
    const { connection, client } = await connected({ subscriptions });
    const closed = new Promise((resolve) => connection.onClose(resolve));
    client.close();
    await closed;
    let left = 0;
    expect(connection.addSubscription('one', () => (left += 1))).toBe(false);
    expect([left, connection.channelsBut(''), connection.accountHasCapacityFor('two')]).toEqual([1, 0, true]);
  });
});
