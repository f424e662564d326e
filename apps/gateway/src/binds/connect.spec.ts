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

  it('presents the client certificate to a server that demands one', async () => {
    const altNames = [{ type: 2 as const, value: 'smsc.example' }];
    const server = await generate([{ name: 'commonName', value: 'smsc.example' }], {
      extensions: [{ name: 'subjectAltName', altNames }],
    });
    const [client, stranger] = await Promise.all(
      ['us', 'stranger'].map((value) => generate([{ name: 'commonName', value }])),
    );
    if (client === undefined || stranger === undefined) throw new Error('no certificates');
    const presented: string[] = [];
    const demanding = tls.createServer(
      { key: server.private, cert: server.cert, ca: client.cert, requestCert: true, rejectUnauthorized: true },
      (socket) => {
        presented.push(socket.getPeerCertificate().subject.CN?.toString() ?? '');
        socket.end('ready');
      },
    );
    const at = await listening(demanding);
    const known = { enabled: true, caCertificate: server.cert, serverName: 'smsc.example' };
    // With TLS 1.3 a client learns of its refusal by the first read, which then fails or ends.
    const textFrom = async (more: object): Promise<string> => {
      const socket = await connect(at, { ...known, ...more }, 2_000, NEVER);
      open.push(socket);
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text;
    };
    expect(await textFrom({ clientCertificate: client.cert, clientKey: client.private })).toBe('ready');
    expect(presented).toEqual(['us']);
    for (const more of [{}, { clientCertificate: stranger.cert, clientKey: stranger.private }])
      expect(await textFrom(more).catch(() => 'failed')).not.toBe('ready');
    expect(presented).toEqual(['us']);
  });
});
