import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { WIDE, keyed, start } from './server.fixture.js';

describe('beyond the capacity of the process', () => {
  const IN_PROGRESS = 256;
  const WAITING = 1_024;
  // Of few connections too many requests would be pipelined.
  const SOCKETS = 256;
  const CREATE =
    `POST /v1/verify HTTP/1.1\r\nHost: cs.test\r\nAuthorization: Bearer ${WIDE}\r\nX-Forwarded-Proto: https\r\n` +
    `X-Forwarded-For: 203.0.113.9\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

  /** A server whose creates are answered once they are released. */
  async function startHanging() {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    const { server } = await start((routes) => {
      routes.post('/v1/verify', keyed(), async () => {
        begun += 1;
        await released;
        return 'created';
      });
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = server.server.address() as AddressInfo;
    const sockets: Socket[] = [];
    return {
      server,
      release,
      begun: () => begun,
      connections: (count: number): Socket[] => {
        const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
        sockets.push(...opened);
        return opened;
      },
      stop: async (): Promise<void> => {
        release();
        for (const socket of sockets) socket.destroy();
        await server.close();
      },
    };
  }

  it('requests wait, and one more is answered 503 on a connection that stays open', async () => {
    const { release, begun, connections, stop } = await startHanging();
    const sockets = connections(SOCKETS + 1);
    const received = sockets.map(() => '');
    for (const [at, socket] of sockets.entries())
      socket.on('data', (octets) => (received[at] = `${received[at] ?? ''}${octets.toString()}`));
    const statuses = (): string[] => received.join('').match(/HTTP\/1\.1 \d{3}/g) ?? [];
    const last = sockets.at(-1);
    try {
      // Pipelined, so that all have arrived before the first of them has waited for long.
      for (const socket of sockets.slice(0, SOCKETS)) socket.write(CREATE.repeat((IN_PROGRESS + WAITING) / SOCKETS));
      await vi.waitFor(() => expect(begun()).toBe(IN_PROGRESS));
      last?.write(CREATE);
      await vi.waitFor(() => expect(received.at(-1)).toContain('}}'));
      expect(statuses()).toEqual(['HTTP/1.1 503']);
      const [head = ''] = received.at(-1)?.toLowerCase().split('\r\n\r\n') ?? [];
      for (const header of ['retry-after: 2', 'cache-control: no-store', 'connection: keep-alive'])
        expect(head).toContain(header);
      for (const name of ['x-request-id', 'ratelimit', 'ratelimit-policy', 'x-content-type-options'])
        expect(head).toContain(`\n${name}: `);
      expect(received.at(-1)).toContain('"code":"SERVICE_UNAVAILABLE"');
      release();
      await vi.waitFor(() => expect(statuses()).toHaveLength(IN_PROGRESS + WAITING + 1));
      last?.write(CREATE);
      await vi.waitFor(() => expect(received.at(-1)).toContain('created'));
      expect(statuses().filter((status) => status.endsWith('200'))).toHaveLength(IN_PROGRESS + WAITING + 1);
    } finally {
      await stop();
    }
  });

  it('requests that wait count as unanswered: a connection with more than 64 of them is closed', async () => {
    const { begun, connections, stop } = await startHanging();
    const sockets = connections(5);
    const [pipelines] = sockets;
    const closed = new Promise((resolve) => pipelines?.on('error', () => undefined).once('close', resolve));
    try {
      for (const socket of sockets.slice(1)) socket.write(CREATE.repeat(IN_PROGRESS / 4));
      await vi.waitFor(() => expect(begun()).toBe(IN_PROGRESS));
      pipelines?.write(CREATE.repeat(65));
      await closed;
      expect(begun()).toBe(IN_PROGRESS);
    } finally {
      await stop();
    }
  });

  it('an upgrade that overtakes unanswered requests closes the connection', async () => {
    const { server, begun, connections, stop } = await startHanging();
    const [alone, behind] = connections(2);
    const upgrade =
      'GET /v1/realtime HTTP/1.1\r\nHost: cs.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
    const upgraded: unknown[] = [];
    server.server.on('upgrade', (_request: unknown, socket: { destroyed: boolean; destroy: () => void }) => {
      upgraded.push(socket.destroyed);
      socket.destroy();
    });
    const closed = new Promise((resolve) =>
      behind
        ?.resume()
        .on('error', () => undefined)
        .once('close', resolve),
    );
    try {
      behind?.write(CREATE + upgrade);
      await closed;
      expect(begun()).toBe(1);
      alone?.on('error', () => undefined).write(upgrade);
      await vi.waitFor(() => expect(upgraded).toEqual([true, false]));
    } finally {
      await stop();
    }
  });
});
