import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alertFor, finiteFieldHello, HANDSHAKE_FAILURE } from '../../test/support/client-hello.js';
import { until } from '../../test/support/until.js';
import { ensureCertificates } from '../stack/certificates.mjs';

const FILE = fileURLToPath(new URL('haproxy.cfg', import.meta.url));
const isInstalled = spawnSync('haproxy', ['-v']).status === 0;
const ENVIRONMENT = { ...process.env, PUBLIC_BASE_URL: 'https://verify.example.com' };

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-haproxy-'));
  const { certFile, keyFile } = await ensureCertificates({ dataDir: folder, hosts: ['x'], log: () => undefined });
  copyFileSync(certFile, path.join(folder, 'tls.crt'));
  copyFileSync(keyFile, path.join(folder, 'tls.key'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The configuration with the certificate of this test, further changed; its path. */
function configured(change: (config: string) => string = (config) => config): string {
  const copy = path.join(folder, 'haproxy.cfg');
  writeFileSync(copy, change(readFileSync(FILE, 'utf8').replaceAll('/run/secrets/', `${folder}/`)));
  return copy;
}

describe('haproxy.cfg', () => {
  it.skipIf(!isInstalled)('is accepted by HAProxy (skipped where haproxy is not on PATH)', () => {
    expect(execFileSync('haproxy', ['-c', '-f', configured()], { env: ENVIRONMENT, encoding: 'utf8' })).toContain(
      'valid',
    );
  });

  it('sets HSTS and nosniff on every response, its own refusals included', () => {
    const config = readFileSync(FILE, 'utf8');
    // http-response rules are not run for responses that HAProxy makes itself.
    expect(config).toMatch(/^ {2}http-after-response set-header Strict-Transport-Security "max-age=31536000"$/m);
    expect(config).toMatch(/^ {2}http-after-response set-header X-Content-Type-Options nosniff$/m);
  });

  it('limits webhook requests before their bodies are read, and buffers bodies itself', () => {
    const config = readFileSync(FILE, 'utf8');
    expect(config).toContain('http-request wait-for-body time 10s if is_webhook');
    // The 100 bodies that a gateway reads at a time.
    const places = [...config.matchAll(/default-server maxconn (\d+) check port 9465 /g)].map(([, count]) =>
      Number(count),
    );
    expect(places).toEqual([90, 10]);
    expect(config).toMatch(/http-request deny deny_status 429 .*sc_http_err_rate/);
    expect(config).toMatch(/http-request deny deny_status 413 .*content-length/);
  });

  it('holds no more than its container may: connections times what each can hold, and the process', () => {
    const global = readFileSync(FILE, 'utf8').split('\ndefaults')[0] ?? '';
    const [, connections] = /^ {2}maxconn (\d+)$/m.exec(global) ?? [];
    const compose = readFileSync(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), 'utf8');
    const [, limitMiB] = /image: haproxy:[^]*?mem_limit: (\d+)m$/m.exec(compose) ?? [];
    expect(Number(connections)).toBeGreaterThan(0);
    expect((Number(connections) * KIB_OF_CONNECTION) / 1_024 + MIB_OF_PROCESS).toBeLessThanOrEqual(Number(limitMiB));
    // Without these, one connection has megabytes in the kernel, which count for the container.
    for (const buffer of ['rcvbuf.client', 'sndbuf.client', 'rcvbuf.server', 'sndbuf.server']) {
      expect(global).toMatch(new RegExp(`^ {2}tune\\.${buffer.replace('.', '\\.')} \\d{5}$`, 'm'));
    }
    expect(global).toMatch(/^ {2}nbthread 4$/m);
    expect(readFileSync(FILE, 'utf8')).toMatch(/^ {2}bind :8443 .* tcp-ut 20s$/m);
  });
});

/** Memory of a connection in HAProxy and the kernel at most, and of HAProxy without any: measured, see SECURITY.md. */
const KIB_OF_CONNECTION = 280;
const MIB_OF_PROCESS = 100;
/** The limit over all sources in this test; the shipped file has 8,000. */
const MAX_CONNECTIONS = 700;
const MAX_OF_SOURCE = 500;
/** Of a source, in 10 s. */
const MAX_NEW_OF_SOURCE = 1_000;
/** Octets of an answer that fits into no buffer. */
const LARGE_ANSWER_OCTETS = 32 * 1024 * 1024;
/** Timeouts in this test, instead of 15 s and 5 s: a stalled request keeps its place for longer than another one waits for it. */
const [CLIENT_TIMEOUT_MS, QUEUE_TIMEOUT_MS] = [4_000, 1_000];
/** The connection preface of HTTP/2 (RFC 9113, 3.4) with an empty SETTINGS frame. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const SIGNATURE = `${'A'.repeat(86)}==`;
/** Quotas as the control plane names them: of an address, and of a key. */
const [OF_ADDRESS, OF_KEY] = ['"ip";q=60;w=60', '"default";q=600;w=60'];

describe.skipIf(!isInstalled)('HAProxy with this configuration (skipped where haproxy is not on PATH)', () => {
  let haproxy: ChildProcess;
  let port: number;
  /** Stands for control planes and gateways: answers with the status and the quota that a request asks for. */
  const behind = http.createServer((request, response) => {
    const { 'x-status': status, 'x-policy': policy, 'x-goog-signature': signature } = request.headers;
    const refused = request.url === '/rcs/webhook' && signature === undefined ? 401 : 200;
    if (typeof policy === 'string') response.setHeader('ratelimit-policy', policy);
    if (request.url === '/large') {
      response.once('close', () => (abortedAnswers += 1));
      response.end(Buffer.alloc(LARGE_ANSWER_OCTETS));
    } else if (request.url === '/later') {
      setTimeout(() => response.end('x'), 1.5 * CLIENT_TIMEOUT_MS);
    } else {
      // As a gateway does: the answer follows the whole body.
      request.resume().once('end', () => response.writeHead(Number(status ?? refused)).end('x'));
    }
  });
  let abortedAnswers = 0;

  beforeAll(async () => {
    await once(behind.listen(0, '127.0.0.1'), 'listening');
    const target = (behind.address() as AddressInfo).port;
    port = await freePort();
    const copy = configured((config) =>
      config
        .replace(/^ {2}maxconn \d+$/m, `  maxconn ${MAX_CONNECTIONS}`)
        .replace('timeout client 15s', `timeout client ${CLIENT_TIMEOUT_MS}ms`)
        .replace('timeout queue 5s', `timeout queue ${QUEUE_TIMEOUT_MS}ms`)
        .replace('bind :8443', `bind 127.0.0.1:${port}`)
        .replaceAll(/check port 94\d\d (.*) resolvers docker .*/g, `check port ${target} $1`)
        .replaceAll(/server-template (\S+) 8 .*/g, `server $1 127.0.0.1:${target}`),
    );
    haproxy = spawn('haproxy', ['-db', '-f', copy], { env: ENVIRONMENT, stdio: 'ignore' });
    await until('HAProxy answers', 10_000, async () => (await ask('127.0.0.2', {})).status === 200);
  }, 20_000);
  afterAll(async () => {
    const ended = once(haproxy, 'exit');
    haproxy.kill();
    await ended;
    behind.closeAllConnections();
    behind.close();
  });

  /** One request over a connection of its own: its status, and whether the connection was kept. */
  function ask(
    localAddress: string,
    headers: Readonly<Record<string, string>>,
    line = 'GET / HTTP/1.1',
    body = '',
  ): Promise<{ readonly status: number; readonly kept: boolean }> {
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false };
      const fields = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
      const socket = connectTls(options, () => socket.write([line, ...fields, '', body].join('\r\n')));
      let text = '';
      socket.on('error', () => undefined);
      socket.once('close', () => resolve({ status: 0, kept: false }));
      socket.on('data', (data: Buffer) => {
        text += data.toString('latin1');
        const [, status] = /^HTTP\/1\.1 (\d{3}) [^]*\r\n\r\n/.exec(text) ?? [];
        if (status === undefined) return;
        resolve({ status: Number(status), kept: !/^connection: close/im.test(text) });
        socket.destroy();
      });
    });
  }

  it('refuses a ClientHello that offers finite-field groups alone', async () => {
    expect(await alertFor(port, finiteFieldHello())).toBe(HANDSHAKE_FAILURE);
  });

  it(`serves another source while one holds its ${MAX_OF_SOURCE} connections and tries for more than there are`, async () => {
    const sockets: Socket[] = [];
    let closed = 0;
    for (let nth = 0; nth < MAX_CONNECTIONS + 100; nth += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.5' });
      socket.on('error', () => undefined).once('close', () => (closed += 1));
      sockets.push(socket.resume());
    }
    try {
      await expect.poll(() => closed, { timeout: 5_000 }).toBe(sockets.length - MAX_OF_SOURCE);
      expect((await ask('127.0.0.9', {})).status).toBe(200);
      expect((await ask('127.0.0.5', {})).status).toBe(0);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await expect.poll(async () => (await ask('127.0.0.5', {})).status, { timeout: 5_000 }).toBe(200);
  });

  it('refuses further connections of a source that opens and closes them quickly', async () => {
    const opened = (localAddress: string): Promise<boolean> =>
      new Promise((resolve) => {
        const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false };
        const socket = connect(options).on('error', () => undefined);
        // An unknown type of handshake message: HAProxy answers it with an alert if it serves the connection.
        socket.once('connect', () => socket.write(Buffer.from([22, 3, 1, 0, 4, 99, 0, 0, 0])));
        socket.once('data', () => resolve(true)).once('close', () => resolve(false));
        socket.once('data', () => socket.destroy());
      });
    let count = 0;
    while (count < 10 * MAX_NEW_OF_SOURCE && (await opened('127.0.0.10'))) count += 1;
    expect(count).toBeLessThan(10 * MAX_NEW_OF_SOURCE);
    expect(count).toBeGreaterThanOrEqual(MAX_NEW_OF_SOURCE);
    expect(await opened('127.0.0.11')).toBe(true);
  });

  it.each([401, 404, 429])(
    'closes the connection after %d to a client without a key, and keeps that of a key',
    async (status) => {
      const asked = { 'x-status': String(status) };
      expect(await ask('127.0.0.2', { ...asked, 'x-policy': OF_ADDRESS })).toEqual({ status, kept: false });
      expect(await ask('127.0.0.2', { ...asked, 'x-policy': OF_KEY })).toEqual({ status, kept: true });
    },
  );

  it('passes signed webhooks on from a source whose unsigned ones are refused too often', async () => {
    const post = async (headers: Readonly<Record<string, string>>): Promise<number> => {
      const answer = await ask('127.0.0.7', { 'content-length': '0', ...headers }, 'POST /rcs/webhook HTTP/1.1');
      return answer.status;
    };
    const unsigned: number[] = [];
    for (let nth = 0; nth < 60; nth += 1) unsigned.push(await post({}));
    expect(unsigned.filter((status) => status === 401).length).toBeGreaterThanOrEqual(50);
    expect(unsigned.at(-1)).toBe(429);
    expect(await post({ 'x-goog-signature': SIGNATURE })).toBe(200);
    expect(await post({ 'x-goog-signature': 'A' })).toBe(429);
  });

  it.each([[['h2', 'http/1.1']], [['h2']], [undefined]])(
    'serves HTTP/1.1 alone to a client that offers %j and sends the preface of HTTP/2',
    async (ALPNProtocols) => {
      const options = { host: '127.0.0.1', port, localAddress: '127.0.0.3', rejectUnauthorized: false };
      const socket = connectTls({ ...options, ...(ALPNProtocols === undefined ? {} : { ALPNProtocols }) });
      let answer = Buffer.alloc(0);
      socket.on('error', () => undefined).on('data', (data: Buffer) => (answer = Buffer.concat([answer, data])));
      socket.once('secureConnect', () => {
        expect(socket.alpnProtocol).not.toBe('h2');
        socket.write(HTTP2_PREFACE);
      });
      await once(socket, 'close');
      // HTTP/2 would answer with a SETTINGS frame; later versions of HAProxy may refuse the handshake.
      expect(answer.toString('latin1')).toMatch(/^(HTTP\/1\.1 400 [^]*)?$/);
    },
  );

  it('ends the connection of a client that does not read its answer, and waits for a late one of a control plane', async () => {
    const before = abortedAnswers;
    const options = { host: '127.0.0.1', port, localAddress: '127.0.0.3', rejectUnauthorized: false };
    const socket = connectTls(options, () => socket.pause().write('GET /large HTTP/1.1\r\nhost: x\r\n\r\n'));
    socket.on('error', () => undefined);
    try {
      await until('the answer is aborted', 15_000, () => abortedAnswers === before + 1);
      expect((await ask('127.0.0.3', {}, 'GET /later HTTP/1.1')).status).toBe(200);
    } finally {
      socket.destroy();
    }
  }, 30_000);

  /** A name, headers and the part of a body that is sent before the request stops. */
  const STALLED: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['60,000 octets of which 17,000 come', { 'content-length': '60000' }, 'x'.repeat(17_000)],
    ['14,000 octets of which 13,000 come', { 'content-length': '14000' }, 'x'.repeat(13_000)],
    [
      '14,000 octets of which 12,000 come, behind 7,000 of headers',
      { 'content-length': '14000', 'x-filler': 'x'.repeat(7_000) },
      'x'.repeat(12_000),
    ],
    [
      'chunks of which the last one does not come',
      { 'transfer-encoding': 'chunked' },
      `4268\r\n${'x'.repeat(17_000)}\r\n`,
    ],
    ['a first short chunk and no more', { 'transfer-encoding': 'chunked' }, '4\r\nabcd\r\n'],
  ];

  // Each with a source of its own, because of the limit of new connections.
  const STALLED_CASES = STALLED.flatMap(([name, ...rest], nth) => [
    [name, 'signed', `127.0.0.${30 + nth}`, ...rest] as const,
    [name, 'unsigned', `127.0.0.${50 + nth}`, ...rest] as const,
  ]);

  it.each(STALLED_CASES)(
    'passes webhooks on while 120 with %s, %s, hold what they can',
    async (_name, form, source, headers, body) => {
      const signed = { 'x-goog-signature': SIGNATURE };
      const fields = Object.entries({ host: 'x', ...headers, ...(form === 'signed' ? signed : {}) });
      const lines = ['POST /rcs/webhook HTTP/1.1', ...fields.map(([field, value]) => `${field}: ${value}`), '', body];
      const sockets = await Promise.all(
        Array.from({ length: 120 }, () => {
          const options = { host: '127.0.0.1', port, localAddress: source, rejectUnauthorized: false };
          return new Promise<Socket>((resolve) => {
            const socket = connectTls(options, () => socket.write(lines.join('\r\n'), () => resolve(socket)));
            socket.on('error', () => undefined).resume();
          });
        }),
      );
      try {
        const honest = { ...signed, 'content-length': '300' };
        const answer = await ask('127.0.0.9', honest, 'POST /rcs/webhook HTTP/1.1', 'x'.repeat(300));
        expect(answer.status).toBe(200);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
    20_000,
  );

  it.each([
    ['12,000 octets', { 'content-length': '12000' }, 'x'.repeat(12_000)],
    ['64 KiB', { 'content-length': '65536' }, 'x'.repeat(65_536)],
    ['a chunk of 300 octets', { 'transfer-encoding': 'chunked' }, `12c\r\n${'x'.repeat(300)}\r\n0\r\n\r\n`],
    ['a chunk of 17,000 octets', { 'transfer-encoding': 'chunked' }, `4268\r\n${'x'.repeat(17_000)}\r\n0\r\n\r\n`],
  ])('passes on a signed webhook of %s', async (_name, headers, body) => {
    const answer = await ask(
      '127.0.0.4',
      { ...headers, 'x-goog-signature': SIGNATURE },
      'POST /rcs/webhook HTTP/1.1',
      body,
    );
    expect(answer.status).toBe(200);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
