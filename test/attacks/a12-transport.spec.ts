import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProxiedRequest } from '../../apps/control-plane/src/http/client-address.js';
import { inRanges, parseRanges } from '../../apps/control-plane/src/targets/address-ranges.js';
import { ensureServiceAccount } from '../../config/stack/service-account.mjs';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { ROOT } from '../support/stack.js';

const SESSION = '/v1/verify/sess_00000000000000000000000000';
/** The limit for headers is 10 s, checked every 2 s; the rest is for a slow machine. */
const CUT_WITHIN_MS = 25_000;
const SLOW = 300;

let harness: ControlPlaneHarness;
let gateway: GatewayBeside;
let folder: string;
/** A control plane behind a TLS proxy, whose part this process plays. */
let proxied: { readonly baseUrl: string; readonly stop: () => Promise<void> };

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-attacks-'));
  // Without a configuration of RCS the webhook reads no body.
  const keyFile = await ensureServiceAccount({ dataDir: folder, tokenUri: 'http://127.0.0.1:9/token' });
  gateway = await GatewayBeside.start(harness, { RBM_SERVICE_ACCOUNT_FILE: keyFile, RBM_CLIENT_TOKEN: 'client-token' });
  proxied = await harness.neighbour({ TLS_MODE: 'proxy', TRUSTED_PROXIES: '127.0.0.0/30' });
});
afterAll(async () => {
  await proxied.stop();
  await gateway.stop();
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The parts of docker-compose.yml that decide which addresses a control plane believes. */
interface ComposeFile {
  readonly services: {
    readonly proxy: { readonly networks: { readonly edge?: { readonly ipv4_address?: string } } };
    readonly 'control-plane': { readonly environment: { readonly TRUSTED_PROXIES: string } };
  };
  readonly networks: {
    readonly edge: { readonly ipam: { readonly config: readonly Readonly<Record<string, string>>[] } };
  };
}

const port = (): number => Number(harness.environment['CONTROL_PLANE_PORT']);

/** Everything received until the server closes or the given number of milliseconds has passed. */
function readUntilClose(
  socket: Duplex,
  withinMs = CUT_WITHIN_MS,
): Promise<{ readonly text: string; readonly closed: boolean }> {
  return new Promise((resolve) => {
    let text = '';
    const late = setTimeout(() => {
      socket.destroy();
      resolve({ text, closed: false });
    }, withinMs);
    socket.on('data', (data: Buffer) => (text += data.toString('latin1'))).on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(late);
      resolve({ text, closed: true });
    });
  });
}

/** Sends raw octets over TLS and returns the whole answer. */
async function raw(octets: string): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false }, () => socket.write(octets));
  return (await readUntilClose(socket)).text;
}

describe('A12 a key over plain HTTP', () => {
  it('A12 the port of the API answers plain HTTP with nothing, and TLS 1.2 with an alert', async () => {
    const plain = connectTcp(port(), '127.0.0.1');
    plain.write(`GET ${SESSION} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.demo.apiKey}\r\n\r\n`);
    const answer = await readUntilClose(plain);
    expect(answer.text).not.toContain('HTTP/');
    expect(answer.closed).toBe(true);
    const old = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
    const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  it('A12 behind a proxy a request that came as plain HTTP is refused and never redirected', async () => {
    const base = proxied.baseUrl.replace('https', 'http');
    for (const proto of ['http', 'https, http', '', 'HTTPS http']) {
      const headers = { authorization: `Bearer ${harness.demo.apiKey}`, 'x-forwarded-proto': proto };
      const answer = await fetch(base + SESSION, { redirect: 'manual', headers });
      expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
      expect(await answer.json()).toMatchObject({ error: { code: 'HTTPS_REQUIRED' } });
    }
  });
});

describe('A17 holding connections open', () => {
  it(`A17 ${SLOW} slow requests to the API and ${SLOW} to the webhook are cut, while both serve others`, async () => {
    const sockets: Duplex[] = [];
    const ends: Promise<{ readonly text: string; readonly closed: boolean }>[] = [];
    const timers: NodeJS.Timeout[] = [];
    /** Sends the beginning, then single octets. */
    const slow = (socket: Duplex, beginning: string): void => {
      sockets.push(socket);
      ends.push(readUntilClose(socket));
      socket.write(beginning);
      const timer = setInterval(() => socket.writable && socket.write('x'), 500);
      timers.push(timer);
      socket.once('close', () => clearInterval(timer));
    };
    const head = 'POST /v1/verify HTTP/1.1\r\nHost: x\r\nX-Slow: ';
    const signature = `x-goog-signature: ${'A'.repeat(86)}==`;
    const body = `POST /rcs/webhook HTTP/1.1\r\nHost: x\r\n${signature}\r\nContent-Length: 60000\r\n\r\n{`;
    for (let at = 0; at < SLOW; at += 1) {
      // Sequential: attackers and services share this process.
      const secure = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false });
      slow(secure, head);
      const plain = connectTcp(gateway.ports.http, '127.0.0.1');
      slow(plain, body);
      await Promise.all([once(secure, 'secureConnect'), once(plain, 'connect')]);
    }
    const honest = await Promise.all(Array.from({ length: 50 }, () => harness.call(SESSION)));
    expect(honest.map(({ status }) => status)).toEqual(honest.map(() => 404));
    const posted = connectTcp(gateway.ports.http, '127.0.0.1');
    posted.write('POST /rcs/webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
    expect((await readUntilClose(posted)).text).toMatch(/^HTTP\/1\.1 4\d\d /);
    const results = await Promise.all(ends);
    for (const timer of timers) clearInterval(timer);
    expect(results.filter(({ closed }) => !closed)).toEqual([]);
    expect(results.filter(({ text }) => / 2\d\d /.test(text))).toEqual([]);
  });
});

describe('A17 connections to a control plane behind a proxy', () => {
  it('A17 of peers that are no trusted proxy close each other at 256, and those of the proxy stay', async () => {
    const base = new URL(proxied.baseUrl.replace('https', 'http'));
    const opened = async (localAddress: string): Promise<Socket> => {
      const socket = connectTcp({ port: Number(base.port), host: '127.0.0.1', localAddress });
      await once(
        socket.on('error', () => undefined),
        'connect',
      );
      return socket;
    };
    const [ofProxy, oldest] = [await opened('127.0.0.1'), await opened('127.0.0.77')];
    const end = once(oldest.resume(), 'close');
    const others: Socket[] = [];
    for (let at = 0; at < 256; at += 1) others.push(await opened('127.0.0.77'));
    await end;
    ofProxy.write(`GET ${SESSION} HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n`);
    expect((await readUntilClose(ofProxy)).text).toMatch(/^HTTP\/1\.1 401 /);
    for (const socket of others) socket.destroy();
  });
});

describe('A17 documents that take no key', () => {
  it('A17 a thousand pipelined requests end their connection, and others are served', async () => {
    for (let at = 0; at < 5; at += 1) {
      const socket = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      socket.write('GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_400));
      await once(socket.resume(), 'close');
    }
    expect((await harness.call(SESSION)).status).toBe(404);
  });
});

describe('A31 requests that a proxy and the service read differently', () => {
  const inner = `GET ${SESSION} HTTP/1.1\r\nHost: x\r\nX-Inner: 1\r\n\r\n`;
  const start = (): string => `POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.demo.apiKey}\r\n`;

  it.each<[string, () => string]>([
    ['length and chunks', () => `${start()}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
    ['two lengths', () => `${start()}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`],
    ['two lengths in one header', () => `${start()}Content-Length: 0, ${inner.length}\r\n\r\n${inner}`],
    ['a length with a plus', () => `${start()}Content-Length: +0\r\n\r\n${inner}`],
    ['chunks by another name', () => `${start()}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`],
    ['chunks twice', () => `${start()}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`],
    ['chunks with a space before the colon', () => `${start()}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`],
    ['a folded header', () => `${start()}X-Folded: a\r\n Transfer-Encoding: chunked\r\n\r\n${inner}`],
    ['lines that end with a line feed alone', () => `${start().replaceAll('\r\n', '\n')}Content-Length: 0\n\n${inner}`],
    [
      'a chunk size with an overflow',
      () => `${start()}Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n${inner}`,
    ],
    ['a carriage return in a header', () => `${start()}X-Odd: a\rTransfer-Encoding: chunked\r\n\r\n${inner}`],
  ])('A31 %s: refused with one answer, and the request behind it is not read', async (_what, octets) => {
    const answer = await raw(octets());
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400']);
    expect(answer).not.toContain('SESSION_NOT_FOUND');
  });

  const KEY = (): string => `Authorization: Bearer ${harness.demo.apiKey}\r\n`;
  const other = `Authorization: Bearer csk_live_${'0'.repeat(38)}\r\n`;
  /** More headers than Node keeps, within 16 KiB. */
  const dropped = 'a:\r\n'.repeat(1_500);

  it.each<[string, () => string]>([
    ['two Hosts', () => `Host: x\r\nHost: y\r\n${KEY()}`],
    ['the same Host twice', () => `Host: x\r\nhOST: x\r\n${KEY()}`],
    ['no Host', () => KEY()],
    ['a wrong key after the right one', () => `Host: x\r\n${KEY()}${other}`],
    ['a wrong key before the right one', () => `Host: x\r\n${other}${KEY()}`],
    ['the same key twice', () => `Host: x\r\n${KEY()}${KEY().toLowerCase()}`],
    ['a second Host behind more headers than are read', () => `Host: x\r\n${KEY()}${dropped}Host: y\r\n`],
  ])('A31 %s: the API, public documents and WebSocket upgrades refuse it', async (_what, headers) => {
    const webSocket =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    for (const [target, more] of [
      ['/v1/verify', 'Connection: close\r\n'],
      ['/v1/openapi.json', 'Connection: close\r\n'],
      ['/docs', 'Connection: close\r\n'],
      ['/nothing', 'Connection: close\r\n'],
      ['/v1/realtime', webSocket],
    ]) {
      const answer = await raw(`GET ${target ?? ''} HTTP/1.1\r\n${more ?? ''}${headers()}\r\n`);
      expect([target, answer.match(/HTTP\/1\.1 \d{3}/g)]).toEqual([target, ['HTTP/1.1 400']]);
      expect(answer).toContain('"MALFORMED_REQUEST"');
    }
  });

  it.each([
    ['two Hosts', 'Host: x\r\nHost: y\r\n'],
    ['two Authorizations', 'Host: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n'],
    ['no Host', ''],
  ])('A31 %s: the webhook of the gateway and both operations ports refuse it', async (_what, headers) => {
    const targets: readonly (readonly [port: number, target: string])[] = [
      [gateway.ports.http, '/rcs/webhook'],
      [gateway.ports.http, '/nothing'],
      [gateway.ports.ops, '/healthz'],
      [gateway.ports.ops, '/nothing'],
      [Number(new URL(harness.opsUrl).port), '/metrics'],
    ];
    for (const [at, target] of targets) {
      const socket = connectTcp(at, '127.0.0.1');
      socket.write(`GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
      const { text } = await readUntilClose(socket);
      expect([target, text.match(/HTTP\/1\.1 \d{3}/g)]).toEqual([target, ['HTTP/1.1 400']]);
    }
  });

  it('A31 the shipped containers believe the proxy alone: not the host, which comes from the gateway address, nor each other', () => {
    const compose = load(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), {
      schema: CORE_SCHEMA.withTags(mergeTag),
    }) as ComposeFile;
    const { subnet = '', ip_range: range = subnet, gateway: host } = compose.networks.edge.ipam.config[0] ?? {};
    const { TRUSTED_PROXIES } = compose.services['control-plane'].environment;
    const proxy = compose.services.proxy.networks.edge?.ipv4_address ?? '';
    const trusted = parseRanges([TRUSTED_PROXIES]);
    const forwarded = { forwardedProto: 'https', forwardedFor: '10.8.0.1' };
    expect(readProxiedRequest(proxy, forwarded, trusted)).toEqual({ secure: true, clientAddress: '10.8.0.1' });
    // Addresses of the subnet are 172.30.10.0 to 172.30.10.255.
    expect([subnet, host]).toEqual(['172.30.10.0/24', '172.30.10.1']);
    const believed = Array.from({ length: 256 }, (_, at) => `172.30.10.${at}`).filter(
      (address) => readProxiedRequest(address, forwarded, trusted).secure,
    );
    expect(believed).toEqual([proxy]);
    // Docker gives out no address outside of the range, so that of the proxy stays free.
    expect(inRanges(proxy, parseRanges([subnet]))).toBe(true);
    expect(inRanges(proxy, parseRanges([range]))).toBe(false);
  });

  it('A31 a client names its own address and protocol in vain: hops left of the proxy are not believed', async () => {
    const base = proxied.baseUrl.replace('https', 'http');
    const admin = await harness.neighbour({
      TLS_MODE: 'proxy',
      TRUSTED_PROXIES: '127.0.0.0/30',
      ADMIN_ALLOWED_CIDRS: '10.8.0.0/16',
    });
    try {
      const call = async (forwardedFor: string): Promise<number> => {
        const headers = {
          authorization: `Bearer ${harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? ''}`,
          'x-forwarded-proto': 'https',
          'x-forwarded-for': forwardedFor,
        };
        return (await fetch(`${admin.baseUrl.replace('https', 'http')}/v1/admin/accounts`, { headers })).status;
      };
      expect(await call('10.8.0.1')).toBe(200);
      // The client's own entry is on the left, that of the proxy on the right.
      expect(await call('10.8.0.1, 203.0.113.9')).toBe(401);
      expect(await call('10.8.0.1, 203.0.113.9, 127.0.0.1')).toBe(401);
      for (const name of ['x-real-ip', 'forwarded', 'x-client-ip', 'true-client-ip']) {
        const headers = {
          authorization: `Bearer ${harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? ''}`,
          'x-forwarded-proto': 'https',
          'x-forwarded-for': '203.0.113.9',
          [name]: name === 'forwarded' ? 'for=10.8.0.1;proto=https' : '10.8.0.1',
        };
        const answer = await fetch(`${admin.baseUrl.replace('https', 'http')}/v1/admin/accounts`, { headers });
        expect(answer.status, name).toBe(401);
      }
    } finally {
      await admin.stop();
    }
    // The headers of a peer that is not a trusted proxy are ignored.
    const outside = await new Promise<string>((resolve) => {
      const socket = connectTcp({ port: Number(new URL(base).port), host: '127.0.0.1', localAddress: '127.0.0.77' });
      socket.write(`GET ${SESSION} HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n`);
      void readUntilClose(socket).then(({ text }) => resolve(text));
    });
    expect(outside).toMatch(/^HTTP\/1\.1 403 /);
    expect(outside).toContain('HTTPS_REQUIRED');
  });
});

describe('A34 reaching metrics, health or queues', () => {
  it('A34 the ports of callers, of the platform and of carriers serve no metrics, health or dashboard', async () => {
    for (const target of [
      '/metrics',
      '/healthz',
      '/readyz',
      '/admin',
      '/admin/queues',
      '/queues',
      '/debug',
      '/_admin',
    ]) {
      expect((await harness.call(target, { key: null })).status, target).toBe(404);
      const webhook = await fetch(`http://127.0.0.1:${gateway.ports.http}${target}`);
      expect(webhook.status, target).toBe(404);
    }
  });

  it('A34 the operations ports are bound to loopback by default, and hold no secret or phone', async () => {
    await harness.create();
    for (const base of [harness.opsUrl, `http://127.0.0.1:${gateway.ports.ops}`]) {
      const own = new URL(base);
      const other = connectTcp(Number(own.port), '127.0.0.2');
      const [error] = (await once(other, 'error')) as [NodeJS.ErrnoException];
      expect(error.code).toBe('ECONNREFUSED');
      for (const target of ['/metrics', '/healthz', '/readyz']) {
        const text = await (await fetch(base + target)).text();
        expect(text).not.toMatch(/\+?1415555|csk_|whsec_|postgres:\/\//i);
      }
    }
  });
});
