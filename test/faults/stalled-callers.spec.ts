import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quantile } from '../bench/statistics.js';
import { startParts, type Parts } from '../support/parts.js';

const STALLED = 1_000;
/** Requirement: memory that the stalled connections may add to a control plane. */
const MAX_GROWTH_MIB = 128;
const CALLS = 200;

let parts: Parts;
let agent: Agent;
let port: number;
let ca: Buffer;

beforeAll(async () => {
  parts = await startParts('postgresql');
  ca = readFileSync(parts.caFile);
  // An address other than that of the flood.
  agent = new Agent({ connect: { ca, localAddress: '127.0.0.9' } });
  port = Number(new URL(parts.baseUrl).port);
  await calls();
});
afterAll(async () => {
  await agent.close();
  await parts.stop();
});

/** Calls without a key, sequential; returns the 99th percentile of their times, in ms. */
async function calls(): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < CALLS; nth += 1) {
    const startedMs = performance.now();
    const { statusCode, body } = await request(`${parts.baseUrl}/v1/openapi.json`, { dispatcher: agent });
    expect(statusCode).toBe(200);
    await body.dump();
    times.push(performance.now() - startedMs);
  }
  return quantile(
    times.sort((a, b) => a - b),
    0.99,
  );
}

async function plain(): Promise<Duplex> {
  const socket = connectTcp(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

async function secure(): Promise<Duplex> {
  const socket = connectTls({ port, host: '127.0.0.1', ca }).on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

const UPGRADE = [
  'GET /v1/realtime HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '',
  '',
].join('\r\n');
/** A masked text frame of 16 KiB (RFC 6455, 5.2) without its last octet. */
const HALF_FRAME = Buffer.concat([Buffer.from([0x81, 0xfe, 0x40, 0, 0, 0, 0, 0]), Buffer.alloc(16 * 1024 - 1, 'x')]);

describe.each<[string, () => Promise<Duplex>, string | Buffer]>([
  ['a TLS handshake that does not begin', plain, ''],
  ['a TLS handshake that does not end', plain, Buffer.from([0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc, 3, 3])],
  ['headers that never end', secure, `GET / HTTP/1.1\r\nx: ${'x'.repeat(15_000)}`],
  [
    'a body without a key',
    secure,
    `POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 131072\r\n\r\n${'x'.repeat(100_000)}`,
  ],
  ['a WebSocket without a ticket, and half a frame', secure, Buffer.concat([Buffer.from(UPGRADE), HALF_FRAME])],
])('%s', (what, open, octets) => {
  it(`stalled ${STALLED} times, takes less than ${MAX_GROWTH_MIB} MiB while other callers get 200`, async () => {
    const alone = await calls();
    const before = parts.controlPlane.residentMib;
    const sockets: Duplex[] = [];
    for (let nth = 0; nth < STALLED; nth += 1) {
      const socket = await open();
      sockets.push(socket.resume());
      socket.write(octets);
    }
    const beside = await calls();
    const growth = parts.controlPlane.residentMib - before;
    const left = sockets.filter((socket) => !socket.closed).length;
    for (const socket of sockets) socket.destroy();
    const times = `p99 of calls alone ${alone.toFixed(1)} ms, beside ${beside.toFixed(1)} ms`;
    console.info(`${what}: ${growth.toFixed(1)} MiB, ${left} of ${STALLED} still open, ${times}`);
    expect(growth).toBeLessThan(MAX_GROWTH_MIB);
  });
});
