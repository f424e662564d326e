import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OverheadMeter, TlsOverhead } from './tls-overhead.js';

const KIB = 1024;

describe('the meter of one connection', () => {
  it('is over its limit when more than 16 KiB are explained by no content', () => {
    const meter = new OverheadMeter();
    expect(meter.isOver(10 * KIB, 0)).toBe(false);
    expect(meter.isOver(18 * KIB, 0)).toBe(true);
  });

  it('does not let content explain what is received later', () => {
    const meter = new OverheadMeter();
    expect(meter.isOver(1_001 * KIB, 1_000 * KIB)).toBe(false);
    expect(meter.isOver(1_018 * KIB, 1_000 * KIB)).toBe(true);
  });

  it('forgets the small frames of a connection that stays open for days', () => {
    const meter = new OverheadMeter();
    for (let at = 1; at <= 100_000; at += 1) expect(meter.isOver(at * 28, at * 6)).toBe(false);
  });
});

describe('a TLS server', () => {
  const sockets: TLSSocket[] = [];
  let pems: { readonly cert: string; readonly private: string };
  let server: Server;

  beforeAll(async () => {
    pems = await generate([{ name: 'commonName', value: 'api' }]);
  });
  beforeEach(async () => {
    server = createServer({ cert: pems.cert, key: pems.private, minVersion: 'TLSv1.3' }, (request, response) => {
      request.resume().once('end', () => response.end('ok'));
    });
    new TlsOverhead().attach(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function opened(): Promise<TLSSocket> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    sockets.push(socket.setNoDelay(true).on('error', () => undefined));
    await once(socket, 'secureConnect');
    return socket;
  }

  it('closes a connection whose records carry next to nothing, without an answer', async () => {
    const socket = await opened();
    let answer = '';
    socket.on('data', (data) => (answer += String(data)));
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    // A record of 23 octets for each octet of content.
    const send = (): void => {
      if (socket.writable) socket.write('x', () => setImmediate(send));
    };
    send();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toBe('');
  });

  it('keeps one with requests of a megabyte', async () => {
    const socket = await opened();
    for (let at = 0; at < 3; at += 1) {
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`);
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200/);
    }
  });
});
