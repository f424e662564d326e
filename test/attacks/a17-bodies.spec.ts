import { once } from 'node:events';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

const OCTETS = 128 * 1024;
/** 8 MiB of one account. */
const MOST = 64;

describe('A17 bodies that do not end', () => {
  let harness: ControlPlaneHarness;
  const sockets: tls.TLSSocket[] = [];

  beforeAll(async () => {
    harness = await ControlPlaneHarness.open();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await harness.close();
  });

  /** Begins a create with a large body. */
  async function begin(): Promise<tls.TLSSocket> {
    const { hostname, port } = new URL(harness.baseUrl);
    const socket = tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    sockets.push(socket.on('error', () => undefined));
    await once(socket, 'secureConnect');
    socket.write(
      `POST /v1/verify HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${harness.demo.apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${OCTETS}\r\n\r\n{"phone":`,
    );
    return socket;
  }
  const answerTo = async (socket: tls.TLSSocket): Promise<string> => String((await once(socket, 'data'))[0]);

  it('A17 hold 8 MiB of an account at most; a small one is accepted beside them, and further ones when they have ended', async () => {
    for (let count = 0; count < MOST; count += 1) await begin();
    let refused = '';
    // Each is counted once its headers have been read.
    for (let tries = 0; refused === '' && tries < 5; tries += 1) refused = await answerTo(await begin());
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toContain('SERVICE_UNAVAILABLE');
    expect(refused.toLowerCase()).toContain('connection: close');
    expect((await harness.create()).status).toBe(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    const [body, padding] = [JSON.stringify(harness.createBody()), ' '.repeat(20_000)];
    await expect
      .poll(async () => (await harness.call('/v1/verify', { method: 'POST', body: body + padding })).status)
      .toBe(200);
  });
});
