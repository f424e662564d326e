import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { CarrierStore } from '@countersign/carriers/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureServiceAccount } from '../../config/stack/service-account.mjs';
import { quantile } from '../bench/statistics.js';
import { Esme } from '../support/esme.js';
import { gatewayProcesses, type GatewayProcesses } from '../support/gateway-processes.js';
import { LOOPBACK, sms } from '../support/gateway-harness.js';
import type { AppPart } from '../support/parts.js';

const PASSWORD = 'secret08';
const OK = 0;
const STALLED = 1_000;
/** Requirement: memory that the stalled connections may add to a gateway. */
const MAX_GROWTH_MIB = 64;
const MESSAGES = 500;
const SIGNATURE = `${'A'.repeat(86)}==`;

let folder: string;
let processes: GatewayProcesses;
let gateway: AppPart;
let esme: Esme;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-stalled-'));
  // The gateway requires the key of a service account beside the token; no card is sent here.
  const keyFile = await ensureServiceAccount({ dataDir: folder, tokenUri: 'http://127.0.0.1:9/token' });
  const rbm = { RBM_CLIENT_TOKEN: 'test-client-token', RBM_SERVICE_ACCOUNT_FILE: keyFile };
  processes = await gatewayProcesses(1, rbm);
  const { harness, gateways } = processes;
  const [first] = gateways;
  if (first === undefined) throw new Error('one was asked for');
  gateway = first;
  const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  await carriers.createSystem(harness.database, {
    systemId: 'north',
    carrier: 'north',
    password: PASSWORD,
    trustedForMo: true,
    allowedCidrs: LOOPBACK,
  });
  await gateway.start();
  esme = await Esme.bound({ port: gateway.port('GATEWAY_SMPP_PORT'), systemId: 'north', password: PASSWORD });
});
afterAll(async () => {
  esme.destroy();
  await processes.stop();
  rmSync(folder, { recursive: true });
});

/** Opens connections that send only these octets and stay open until the server closes them. */
async function stall(port: number, octets: string | Buffer): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let nth = 0; nth < STALLED; nth += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket.on('error', () => undefined).resume());
    await once(socket, 'connect');
    socket.write(octets);
  }
  return sockets;
}

/** Sends MOs sequentially; returns the 99th percentile of the time to their answers, in ms. */
async function answered(): Promise<number> {
  const times: number[] = [];
  for (let nth = 0; nth < MESSAGES; nth += 1) {
    const startedMs = performance.now();
    expect((await esme.send('submit_sm', sms(`hello ${nth}`))).command_status).toBe(OK);
    times.push(performance.now() - startedMs);
  }
  return quantile(
    times.sort((a, b) => a - b),
    0.99,
  );
}

const post = (headers: readonly string[], body: string): string =>
  ['POST /rcs/webhook HTTP/1.1', 'Host: x', ...headers, '', body].join('\r\n');

describe.each<[string, 'GATEWAY_HTTP_PORT' | 'GATEWAY_SMPP_PORT' | 'GATEWAY_OPS_PORT', string | Buffer]>([
  [
    'a signed body that never ends, to the webhook',
    'GATEWAY_HTTP_PORT',
    post(['Content-Length: 65536', `X-Goog-Signature: ${SIGNATURE}`], 'x'.repeat(65_535)),
  ],
  [
    'a body in chunks of an octet, to the webhook',
    'GATEWAY_HTTP_PORT',
    post(['Transfer-Encoding: chunked', `X-Goog-Signature: ${SIGNATURE}`], '1\r\nx\r\n'.repeat(60_000)),
  ],
  [
    'a body of a mebibyte, to the webhook',
    'GATEWAY_HTTP_PORT',
    post(['Content-Length: 1048576'], 'x'.repeat(1_000_000)),
  ],
  ['headers that never end, to the webhook', 'GATEWAY_HTTP_PORT', `POST / HTTP/1.1\r\nx: ${'x'.repeat(8_000)}`],
  [
    'half a PDU, to the SMPP port',
    'GATEWAY_SMPP_PORT',
    Buffer.concat([Buffer.from([0, 0, 0xff, 0xf0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]), Buffer.alloc(65_000, 'x')]),
  ],
  ['headers that never end, to the operations port', 'GATEWAY_OPS_PORT', `GET / HTTP/1.1\r\nx: ${'x'.repeat(8_000)}`],
])('%s, %s', (what, port, octets) => {
  it(`stalled ${STALLED} times, takes less than ${MAX_GROWTH_MIB} MiB while every MO is accepted`, async () => {
    const alone = await answered();
    const before = gateway.residentMib;
    const sockets = await stall(gateway.port(port), octets);
    const beside = await answered();
    const growth = gateway.residentMib - before;
    const open = sockets.filter((socket) => !socket.closed).length;
    for (const socket of sockets) socket.destroy();
    const times = `MO p99 alone ${alone.toFixed(1)} ms, beside ${beside.toFixed(1)} ms`;
    console.info(`${what}: ${growth.toFixed(1)} MiB, ${open} of ${STALLED} still open, ${times}`);
    expect(growth).toBeLessThan(MAX_GROWTH_MIB);
  });
});
