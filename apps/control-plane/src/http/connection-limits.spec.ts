import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { TlsSettings } from '@countersign/settings';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionLimits } from './connection-limits.js';

const MAX_OF_ADDRESS = 1_000;

let server: Server;
const sockets: Socket[] = [];

/** A server whose requests have a valid key, but for those of `/keyless`. */
async function start(tls: TlsSettings): Promise<void> {
  const limits = new ConnectionLimits(tls);
  server = createServer((request, response) => {
    if (request.url === '/keyless') limits.unauthenticated(request.socket);
    else limits.authenticated(request.socket, 'key');
    response.end('ok');
  });
  limits.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

async function opened(localAddress: string): Promise<Socket> {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'connect');
  return socket;
}

describe('connections without a valid key', () => {
  beforeEach(() => start({ mode: 'direct', certFile: '', keyFile: '' }));

  it('are evicted by others of their address, the oldest first; a connection with a key stays', async () => {
    const keyed = await opened('127.0.0.2');
    keyed.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(keyed, 'data');
    const other = await opened('127.0.0.3');
    const oldest = await opened('127.0.0.2');
    const ended = once(oldest, 'close');
    oldest.resume();
    for (let nth = 0; nth < MAX_OF_ADDRESS; nth += 1) await opened('127.0.0.2');
    await ended;
    for (const spared of [keyed, other]) {
      spared.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(String((await once(spared, 'data'))[0])).toMatch(/^HTTP\/1.1 200/);
    }
  });

  it('are those whose last request had none, too', async () => {
    const keyed = await opened('127.0.0.2');
    for (const path of ['/', '/keyless']) {
      keyed.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(keyed, 'data');
    }
    const ended = once(keyed, 'close');
    keyed.resume();
    for (let nth = 0; nth < MAX_OF_ADDRESS; nth += 1) await opened('127.0.0.2');
    await ended;
  });
});

describe('connections behind a TLS proxy', () => {
  const MAX_OUTSIDE = 256;

  beforeEach(() => start({ mode: 'proxy', trustedProxies: ['127.0.0.2'] }));

  it('of other peers evict each other, the oldest first, and never one of the proxy', async () => {
    const proxied = await opened('127.0.0.2');
    const oldest = await opened('127.0.0.9');
    const ended = once(oldest, 'close');
    oldest.resume();
    for (let nth = 0; nth < MAX_OUTSIDE; nth += 1) await opened('127.0.0.9');
    await ended;
    for (const spared of [proxied, await opened('127.0.0.2')]) {
      spared.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(String((await once(spared, 'data'))[0])).toMatch(/^HTTP\/1.1 200/);
    }
  });

  it('have their full number of places for the proxies while other peers use theirs', () => {
    expect(server.maxConnections).toBeGreaterThan(20_000 + MAX_OUTSIDE);
  });
});
