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
    const gateways = config.slice(config.indexOf('\nbackend gateways'));
    expect(gateways).toContain('option http-buffer-request');
    expect(gateways).toContain('maxconn 100 ');
    expect(config).toMatch(/http-request deny deny_status 429 .*sc_http_err_rate/);
    expect(config).toMatch(/http-request deny deny_status 413 .*content-length/);
  });
});

/** The limit over all sources in this test; the shipped file has 20,000. */
const MAX_CONNECTIONS = 1_200;
const MAX_OF_SOURCE = 1_000;
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
    response.writeHead(Number(status ?? refused)).end('x');
  });

  beforeAll(async () => {
    await once(behind.listen(0, '127.0.0.1'), 'listening');
    const target = (behind.address() as AddressInfo).port;
    port = await freePort();
    const copy = configured((config) =>
      config
        .replace('maxconn 20000', `maxconn ${MAX_CONNECTIONS}`)
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
  ): Promise<{ readonly status: number; readonly kept: boolean }> {
    return new Promise((resolve) => {
      const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false };
      const fields = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
      const socket = connectTls(options, () => socket.write([line, ...fields, '', ''].join('\r\n')));
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
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
