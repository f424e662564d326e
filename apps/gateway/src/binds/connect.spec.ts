import net from 'node:net';
import tls from 'node:tls';
import { generate } from 'selfsigned';
import { afterEach, describe, expect, it } from 'vitest';
import { connect, ConnectTimeoutError } from './connect.js';

const NEVER = new AbortController().signal;
const PLAIN = { enabled: false };
const open: (net.Server | net.Socket)[] = [];

afterEach(() => {
  for (const each of open.splice(0)) {
    if (each instanceof net.Server) each.close();
    else each.destroy();
  }
});

async function listening(server: net.Server): Promise<{ host: string; port: number }> {
  open.push(server);
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    open.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return { host: '127.0.0.1', port: address.port };
}

describe('connect', () => {
  it('opens a plain socket', async () => {
    const at = await listening(net.createServer());
    const socket = await connect(at, PLAIN, 1_000, NEVER);
    open.push(socket);
    expect(socket.remotePort).toBe(at.port);
  });

  it('rejects with the error of a refused connection', async () => {
    const server = net.createServer();
    const at = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    await expect(connect(at, PLAIN, 1_000, NEVER)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('times out on a server that accepts and does not start TLS', async () => {
    const at = await listening(net.createServer());
    await expect(connect(at, { enabled: true }, 100, NEVER)).rejects.toBeInstanceOf(ConnectTimeoutError);
  });

  it('rejects when the signal is aborted', async () => {
    const at = await listening(net.createServer());
    const stop = new AbortController();
    const attempt = connect(at, { enabled: true }, 10_000, stop.signal);
    stop.abort();
    await expect(attempt).rejects.toThrow('stopped');
  });

  it('trusts the given CA for the given name only', async () => {
    const pems = await generate([{ name: 'commonName', value: 'smsc.example' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'smsc.example' }] }],
    });
    const at = await listening(tls.createServer({ key: pems.private, cert: pems.cert }));
    const known = { enabled: true, caCertificate: pems.cert };
    open.push(await connect(at, { ...known, serverName: 'smsc.example' }, 2_000, NEVER));
    await expect(connect(at, { ...known, serverName: 'other.example' }, 2_000, NEVER)).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await expect(connect(at, { enabled: true, serverName: 'smsc.example' }, 2_000, NEVER)).rejects.toThrow(
      /self.signed/i,
    );
  });
});
