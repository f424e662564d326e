import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { newId } from '@countersign/ids';
import { createWebhookSecret } from '@countersign/keys';
import { generate } from 'selfsigned';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { TargetRules } from '../../apps/control-plane/src/targets/target.js';
import { guardedAgent } from '../../apps/control-plane/src/webhooks/guarded-agent.js';
import { ATTEMPT_TIMEOUT_MS, type Post, WebhookPoster } from '../../apps/control-plane/src/webhooks/webhook-poster.js';
import { connect as connectBind } from '../../apps/gateway/src/binds/connect.js';
import { RbmHttp } from '../../apps/gateway/src/rcs/rbm/rbm-http.js';
import {
  alertFor,
  diffieHellmanHello,
  finiteFieldHello,
  HANDSHAKE_FAILURE,
  PROTOCOL_VERSION,
} from '../support/client-hello.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { EmptyRecords } from '../support/empty-records.js';
import { GatewayHarness } from '../support/gateway-harness.js';
import { ROOT } from '../support/stack.js';

const rules = new TargetRules({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
const CONNECT_MS = 10_000;

let folder: string;
let certificate: { readonly cert: string; readonly key: string };

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-handshakes-'));
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }];
  const pems = await generate([{ name: 'commonName', value: 'peer' }], {
    extensions: [{ name: 'subjectAltName', altNames }],
  });
  certificate = { cert: pems.cert, key: pems.private };
  writeFileSync(path.join(folder, 'cert.pem'), pems.cert);
  writeFileSync(path.join(folder, 'key.pem'), pems.private);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The certificate and copies of it, which no authority signed. */
const chainOf = (certificates: number): string => `${certificate.cert.trim()}\n`.repeat(certificates);

async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function postTo(url: string): Post {
  const owner = { accountId: newId(Date.now()), test: false };
  return { owner, eventId: newId(Date.now()), url, body: '{}', secrets: [createWebhookSecret()], nowMs: 0 };
}

/** A webhook poster, by way of a proxy or directly. */
async function post(url: string, proxy: string | null = null): Promise<unknown> {
  const poster = new WebhookPoster(rules, guardedAgent(rules, proxy));
  const result = await poster.post(postTo(url));
  await poster.close();
  return result;
}

/** An egress proxy for targets on loopback. */
async function startProxy(): Promise<{ readonly url: string; readonly close: () => void }> {
  const proxy = net.createServer((near) => {
    near
      .on('error', () => undefined)
      .once('data', (head) => {
        const [, port = ''] = /^CONNECT [^:]*:(\d+) /.exec(head.toString('latin1')) ?? [];
        const far = net.connect(Number(port), '127.0.0.1');
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        far.on('error', () => undefined).on('close', () => near.destroy());
        near
          .on('close', () => far.destroy())
          .pipe(far)
          .pipe(near);
      });
  });
  return { url: `http://127.0.0.1:${await listen(proxy)}`, close: () => void proxy.close() };
}

describe('A17 finite-field Diffie-Hellman, which costs the other side nothing', () => {
  it('A17 a control plane refuses a ClientHello with it alone', async () => {
    const plane = await ControlPlaneHarness.open();
    const port = Number(plane.environment['CONTROL_PLANE_PORT']);
    expect(await alertFor(port, finiteFieldHello())).toBe(HANDSHAKE_FAILURE);
    expect(await alertFor(port, diffieHellmanHello())).toBe(PROTOCOL_VERSION);
    await plane.close();
  });

  it('A17 the TLS port of a gateway refuses a ClientHello with it alone', async () => {
    const gateway = await GatewayHarness.open({
      SMPP_TLS_CERT_FILE: path.join(folder, 'cert.pem'),
      SMPP_TLS_KEY_FILE: path.join(folder, 'key.pem'),
    });
    await gateway.system({ systemId: 'open' });
    expect(await alertFor(gateway.ports.smppTls, finiteFieldHello())).toBe(HANDSHAKE_FAILURE);
    expect(await alertFor(gateway.ports.smppTls, diffieHellmanHello())).toBe(HANDSHAKE_FAILURE);
    await gateway.close();
  });

  const bind = (port: number): Promise<unknown> =>
    connectBind(
      { host: '127.0.0.1', port },
      { enabled: true, caCertificate: certificate.cert },
      CONNECT_MS,
      new AbortController().signal,
    ).catch((error: unknown) => error);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const askPlatform = async (port: number): Promise<void> => {
    const url = `https://127.0.0.1:${port}`;
    const account = { clientEmail: 'cards@acme.example', privateKeyId: 'key-1', privateKey, tokenUri: `${url}/token` };
    const platform = new RbmHttp({ baseUrl: url, account, nowMs: Date.now, onTokenFault: () => undefined });
    const to = { agentId: 'agent', phone: '+14155550123' };
    await platform.request({ to, messageId: 'message', message: null }, 'commands', { timeoutMs: CONNECT_MS });
    await platform.close();
  };
  const proxied = async (port: number): Promise<void> => {
    const proxy = await startProxy();
    await post(`https://127.0.0.1:${port}/hook`, proxy.url);
    proxy.close();
  };

  it.each<[string, (port: number) => Promise<unknown>]>([
    ['webhooks', (port) => post(`https://127.0.0.1:${port}/hook`)],
    ['webhooks by way of an egress proxy', proxied],
    ['an egress proxy that is reached over TLS', (port) => post('https://127.0.0.1:9/', `https://127.0.0.1:${port}`)],
    ['binds', bind],
    ['access tokens of the RCS platform', askPlatform],
  ])('A17 %s: not offered to a server that wants it alone', async (_what, reach) => {
    const servers: readonly (readonly [tls.TlsOptions, string])[] = [
      [{ maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' }, 'ERR_SSL_NO_SHARED_CIPHER'],
      [{ minVersion: 'TLSv1.3', ecdhCurve: 'ffdhe8192' }, 'ERR_SSL_NO_SUITABLE_KEY_SHARE'],
    ];
    for (const [options, code] of servers) {
      const errors: unknown[] = [];
      const server = tls.createServer({ ...certificate, ...options });
      server.on('tlsClientError', (error: NodeJS.ErrnoException) => errors.push(error.code));
      server.on('secureConnection', (socket) => errors.push('connected') && socket.destroy());
      await reach(await listen(server));
      server.close();
      expect(new Set(errors)).toEqual(new Set([code]));
    }
  });
});

describe('A17 webhook receivers with long certificate chains', () => {
  it.each([
    ['directly', false],
    ['by way of an egress proxy', true],
  ])('A17 %s: refused at 16 KiB, and a shorter chain when it is verified', async (_way, isProxied) => {
    const results: unknown[] = [];
    for (const copies of [1, 8, 75]) {
      const server = tls.createServer({ ...certificate, cert: chainOf(copies) });
      server
        .on('tlsClientError', () => undefined)
        .on('secureConnection', (socket) => {
          socket.on('error', () => undefined).resume();
        });
      const url = `https://127.0.0.1:${await listen(server)}/hook`;
      const proxy = isProxied ? await startProxy() : null;
      const { error } = (await post(url, proxy?.url)) as { readonly error: string };
      results.push([copies, error]);
      proxy?.close();
      server.close();
    }
    expect(results).toEqual([
      [1, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      [8, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      [75, 'TlsHandshakeTooLarge'],
    ]);
  });
});

describe('A17 webhook receivers that send records without content after the handshake', () => {
  const FLOOD_OCTETS = 256 * 1024;

  // The receiver of an attacker has a certificate of a public authority.
  beforeEach(() => vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'));
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['tickets', 'directly', false],
    ['tickets', 'by way of an egress proxy', true],
    ['key updates', 'directly', false],
    ['key updates', 'by way of an egress proxy', true],
    ['hello requests', 'directly', false],
    ['hello requests', 'by way of an egress proxy', true],
  ] as const)('A17 %s %s: closed after some KiB, not at the end of the attempt', async (kind, _way, isProxied) => {
    const receiver = new EmptyRecords(kind, certificate, FLOOD_OCTETS);
    const url = `https://127.0.0.1:${await receiver.listen()}/hook`;
    const proxy = isProxied ? await startProxy() : null;
    const startedMs = performance.now();
    const { error } = (await post(url, proxy?.url)) as { readonly error: string };
    expect([error, performance.now() - startedMs < ATTEMPT_TIMEOUT_MS]).toEqual(['TlsRecordsWithoutContent', true]);
    proxy?.close();
    receiver.close();
  });

  it.each([
    ['a large response', `HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`, 1],
    ['one with a long head', `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Note: ${'x'.repeat(14_000)}\r\n\r\n`, 1],
    ['many on one connection', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 300],
  ])('A17 %s: no flood', async (_what, reply, posts) => {
    let connections = 0;
    const server = tls.createServer(certificate, (socket) => {
      connections += 1;
      socket.on('error', () => undefined).on('data', () => socket.write(reply));
    });
    const url = `https://127.0.0.1:${await listen(server)}/hook`;
    const poster = new WebhookPoster(rules, guardedAgent(rules, null));
    for (let count = 0; count < posts; count += 1) {
      expect(await poster.post(postTo(url))).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect(connections).toBeLessThan(5);
    await poster.close();
    server.close();
  });
});

describe('A17 carriers that send records without content after the handshake', () => {
  const FLOOD_OCTETS = 256 * 1024;

  it.each(['tickets', 'key updates', 'hello requests'] as const)(
    'A17 %s: the connection of a bind ends after some KiB',
    async (kind) => {
      const carrier = new EmptyRecords(kind, certificate, FLOOD_OCTETS);
      const at = { host: '127.0.0.1', port: await carrier.listen() };
      const trusting = { enabled: true, caCertificate: certificate.cert } as const;
      const socket = await connectBind(at, trusting, CONNECT_MS, new AbortController().signal);
      const error = new Promise<Error>((resolve) => socket.once('error', resolve));
      expect(socket.remoteAddress).toBe('127.0.0.1');
      // A flood begins with the first content.
      socket.write('bind');
      socket.resume();
      expect((await error).name).toBe('TlsRecordsWithoutContent');
      carrier.close();
    },
  );
});

describe('A17 webhook receivers with usual handshakes', () => {
  beforeEach(() => vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'));
  afterEach(() => vi.unstubAllEnvs());

  it.each<[string, tls.TlsOptions]>([
    ['TLS 1.2', { maxVersion: 'TLSv1.2' }],
    ['TLS 1.2 with CBC', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-SHA384' }],
    ['TLS 1.3', { minVersion: 'TLSv1.3' }],
    ['TLS 1.3 with a HelloRetryRequest', { minVersion: 'TLSv1.3', ecdhCurve: 'P-384' }],
  ])('A17 %s: answered', async (_what, options) => {
    const server = tls.createServer({ ...certificate, ...options }, (socket) => {
      socket.on('error', () => undefined).on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    expect(await post(`https://127.0.0.1:${await listen(server)}/hook`)).toMatchObject({ status: 204 });
    server.close();
  });
});

describe('A17 long certificate chains of systems', () => {
  let gateway: GatewayHarness;
  let trusted: { readonly cert: string; readonly key: string };
  const sockets: net.Socket[] = [];

  beforeAll(async () => {
    const pems = await generate([{ name: 'commonName', value: 'north' }]);
    trusted = { cert: pems.cert, key: pems.private };
    writeFileSync(path.join(folder, 'clients.pem'), pems.cert);
  });
  beforeEach(async () => {
    gateway = await GatewayHarness.open({
      SMPP_TLS_CERT_FILE: path.join(folder, 'cert.pem'),
      SMPP_TLS_KEY_FILE: path.join(folder, 'key.pem'),
      SMPP_TLS_CLIENT_CA_FILE: path.join(folder, 'clients.pem'),
    });
    await gateway.system({ systemId: 'north', allowedCidrs: ['127.0.0.0/8'] });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.close();
  });

  /** Whether the gateway took part in a handshake with this certificate; waits for the end of one that it refuses. */
  function handshake(localAddress: string, shown: { readonly cert: string; readonly key: string }): Promise<boolean> {
    const below = net.connect({ host: '127.0.0.1', port: gateway.ports.smppTls, localAddress });
    const socket = tls.connect({ socket: below, ...shown, ca: certificate.cert, servername: '', host: '127.0.0.1' });
    sockets.push(socket, below);
    return new Promise((resolve) => {
      let began = false;
      socket.on('error', () => undefined).once('close', () => resolve(began));
      socket.once('secureConnect', () => {
        began = true;
        if (shown === trusted) resolve(true);
        else socket.resume();
      });
    });
  }
  const count = (all: readonly boolean[]): number => all.filter(Boolean).length;

  it('A17 of 20 at the same time from one address 5 are verified, and it is locked out; others connect', async () => {
    const chain = { ...certificate, cert: chainOf(20) };
    const attempts = await Promise.all(Array.from({ length: 20 }, () => handshake('127.0.0.66', chain)));
    expect(count(attempts)).toBe(5);
    expect(await handshake('127.0.0.66', trusted)).toBe(false);
    expect(await Promise.all([1, 2, 3].map(() => handshake('127.0.0.67', trusted)))).toEqual([true, true, true]);
  });

  it('A17 of 60 addresses few are verified, while a peer that has connected before connects again', async () => {
    expect(await handshake('127.0.0.67', trusted)).toBe(true);
    const chain = { ...certificate, cert: chainOf(60) };
    const flood = Promise.all(Array.from({ length: 60 }, (_, at) => handshake(`127.0.1.${at + 1}`, chain)));
    expect(await handshake('127.0.0.67', trusted)).toBe(true);
    const verified = count(await flood);
    expect(verified).toBeGreaterThan(1);
    expect(verified).toBeLessThan(30);
  });

  it('A17 handshakes of new peers that stall end for one that waits', async () => {
    for (const host of [71, 72, 73, 74]) {
      const silent = net.connect({ host: '127.0.0.1', port: gateway.ports.smppTls, localAddress: `127.0.0.${host}` });
      sockets.push(silent.on('error', () => undefined));
      await once(silent, 'connect');
    }
    expect(await handshake('127.0.0.75', trusted)).toBe(true);
  });
});

describe('A17 an endless reason phrase of a webhook receiver', () => {
  it('A17 is read for 32 KiB, and one of a usual length is accepted', async () => {
    for (const [phrase, result] of [
      ['x'.repeat(64 * 1024), { kind: 'failed', error: 'UND_ERR_HEADERS_OVERFLOW' }],
      ['OK', { kind: 'answered', status: 200, retryAfter: null }],
    ] as const) {
      const receiver = net.createServer((socket) => {
        const sendMore = (): void => {
          let hasRoom = !socket.destroyed;
          while (hasRoom) hasRoom = socket.write(phrase);
        };
        socket
          .on('error', () => undefined)
          .on('drain', sendMore)
          .once('data', () => {
            socket.write('HTTP/1.1 200 ');
            if (phrase === 'OK') socket.end('OK\r\nContent-Length: 0\r\n\r\n');
            else sendMore();
          });
      });
      expect(await post(`http://127.0.0.1:${await listen(receiver)}/hook`)).toEqual(result);
      receiver.close();
    }
  });
});

describe('A17 TLS records that no content explains', () => {
  it('A17 end a connection to the gateway before its bind', async () => {
    const gateway = await GatewayHarness.open({
      SMPP_TLS_CERT_FILE: path.join(folder, 'cert.pem'),
      SMPP_TLS_KEY_FILE: path.join(folder, 'key.pem'),
    });
    await gateway.system({ systemId: 'north', allowedCidrs: ['127.0.0.0/8'] });
    const opened = async (): Promise<tls.TLSSocket> => {
      const socket = tls.connect({ port: gateway.ports.smppTls, host: '127.0.0.1', ca: certificate.cert });
      await once(socket.setNoDelay(true), 'secureConnect');
      return socket.on('error', () => undefined);
    };
    const quiet = await opened();
    const socket = await opened();
    let answer = 0;
    socket.on('data', ({ length }: Buffer) => (answer += length));
    const pdu = Buffer.alloc(1_000);
    pdu.writeUInt32BE(pdu.length);
    pdu.writeUInt32BE(0x00000009, 4);
    // The same part of a bind_transceiver on both, which has 10 s to be complete: on one a record of 23 octets for each octet.
    quiet.resume().write(pdu.subarray(0, -1));
    let sent = 0;
    const send = (): void => {
      if (socket.writable && sent < pdu.length - 1) socket.write(pdu.subarray(sent++, sent), () => setImmediate(send));
    };
    send();
    await once(socket, 'close');
    expect([answer, quiet.readyState]).toEqual([0, 'open']);
    quiet.destroy();
    await gateway.close();
  });
});

describe('A17 renegotiation, which TLS 1.2 does not bound', () => {
  it('A17 is refused by a bind to a carrier', async () => {
    const server = tls.createServer({ ...certificate, maxVersion: 'TLSv1.2' });
    let isRenegotiated = false;
    server.on('secureConnection', (socket) => {
      socket.on('error', () => undefined).resume();
      socket.renegotiate({}, (error) => (isRenegotiated = error === null));
    });
    const at = { host: '127.0.0.1', port: await listen(server) };
    const trusting = { enabled: true, caCertificate: certificate.cert };
    const socket = await connectBind(at, trusting, CONNECT_MS, new AbortController().signal);
    const error = new Promise<Error>((resolve) => socket.once('error', resolve));
    socket.resume();
    expect((await error).name).toBe('TlsRecordsWithoutContent');
    expect(isRenegotiated).toBe(false);
    server.close();
  });
});

describe('A17 connections over TLS that are added later', () => {
  /** Names by which a daemon makes or accepts TLS. */
  const MAKES_TLS =
    /\btls\.(?:connect|createServer)\(|\bcreateSecureContext\(|\bnew Agent\(|\bbuildConnector\(|\bhttps: \{/;

  it('A17 every source file that makes one takes the common options', () => {
    const files = ['apps/control-plane/src', 'apps/gateway/src', 'libs']
      .flatMap((from) =>
        readdirSync(path.join(ROOT, from), { recursive: true, encoding: 'utf8' }).map((file) => path.join(from, file)),
      )
      .filter(
        (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !/^libs\/(?:sdk|tls|smpp\/types)\//.test(file),
      );
    const making = files.filter((file) => MAKES_TLS.test(readFileSync(path.join(ROOT, file), 'utf8')));
    expect(making.length).toBeGreaterThan(3);
    const forgetting = making.filter((file) => !readFileSync(path.join(ROOT, file), 'utf8').includes('...AGREED_TLS'));
    expect(forgetting).toEqual([]);
  });
});
