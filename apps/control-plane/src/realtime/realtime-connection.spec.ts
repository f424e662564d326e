import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { RealtimeConnection } from './realtime-connection.js';

const PIECE = Buffer.alloc(64 * 1024, 'x');
const MIB = 1024 * 1024;

let server: WebSocketServer | undefined;
afterEach(() => {
  for (const client of server?.clients ?? []) client.terminate();
  server?.close();
});

/** A connection over a real socket, and the client at its other end. */
async function connected(): Promise<{ connection: RealtimeConnection; client: WebSocket; ours: WebSocket }> {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
  const [[ours]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [[WebSocket], unknown];
  const connection = new RealtimeConnection(ours, {
    listener: { kind: 'key', accountId: 'a' },
    keyDigest: null,
    clientAddress: '127.0.0.1',
    nowMs: () => performance.now(),
    onProven: () => undefined,
  });
  return { connection, client, ours };
}

describe('a connection whose reader does not read', () => {
  it('is closed with 4503 once it is a mebibyte behind, and takes no more memory', async () => {
    const { connection, client, ours } = await connected();
    client.pause();
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    let most = 0;
    // What the two ends of the line hold is the system's business; it takes a few mebibytes.
    for (let sent = 0; connection.open && sent < 4_096; sent += 1) {
      connection.send(PIECE);
      most = Math.max(most, ours.bufferedAmount);
      if (sent % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(connection.open).toBe(false);
    expect(most).toBeLessThan(2 * MIB);
    for (let again = 0; again < 1_000; again += 1) connection.send(PIECE);
    expect(ours.bufferedAmount).toBeLessThan(2 * MIB);
    client.resume();
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(4503);
    expect(await closed).toBe(4503);
  });
});

describe('a connection', () => {
  it('handles its messages one after the other, in their order', async () => {
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

  it('leaves its channels when it ends', async () => {
    const { connection, client } = await connected();
    const left: string[] = [];
    for (const channel of ['a', 'b', 'a']) connection.watch(channel, () => left.push(channel));
    expect(left).toEqual(['a']);
    expect(connection.channelsBut('a')).toBe(1);
    const closed = new Promise<number>((resolve) => connection.onClose(resolve));
    client.close(1000);
    expect(await closed).toBe(1000);
    expect(left.sort()).toEqual(['a', 'a', 'b']);
  });
});
