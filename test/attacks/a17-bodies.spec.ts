import { once } from 'node:events';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { rawAnswer } from '../support/raw-answer.js';

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

describe('A17 bodies in chunks of one octet', () => {
  let harness: ControlPlaneHarness;

  beforeAll(async () => {
    harness = await ControlPlaneHarness.open();
  });
  afterAll(() => harness.close());

  it('A17 are refused at their 129th chunk, and the rest is not read', async () => {
    const { hostname, port } = new URL(harness.baseUrl);
    const head =
      `POST /v1/verify HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${harness.demo.apiKey}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    // One octet less than in a body that would be too large.
    const { status, code, text } = await rawAnswer(Number(port), head + '1\r\n \r\n'.repeat(OCTETS - 1), '127.0.0.1');
    expect([status, code]).toEqual([400, 'MALFORMED_REQUEST']);
    expect(text).toContain('too many small chunks');
    expect((await harness.create()).status).toBe(200);
  });
});

describe('A17 requests whose path cannot be read', () => {
  const REQUESTS = 500;
  let harness: ControlPlaneHarness;

  beforeAll(async () => {
    harness = await ControlPlaneHarness.open();
  });
  afterAll(() => harness.close());

  const open = async (): Promise<string | undefined> =>
    /^countersign_requests_open\{.*\} (\d+)$/m.exec(await (await fetch(`${harness.opsUrl}/metrics`)).text())?.[1];

  it.each([
    ['without a key', null, 401],
    ['with a key', undefined, 404],
  ])('A17 %s hold no place of others after their answers', async (_, key, status) => {
    const { hostname, port } = new URL(harness.baseUrl);
    const authorization = key === null ? '' : `Authorization: Bearer ${harness.demo.apiKey}\r\n`;
    const head = `GET /v1/verify/%E0%A4%A HTTP/1.1\r\nHost: ${hostname}\r\n${authorization}Connection: close\r\n\r\n`;
    let answers = '';
    for (let sent = 0; sent < REQUESTS; sent += 50) {
      const group = Array.from({ length: 50 }, () =>
        tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false }),
      );
      await Promise.all(
        group.map(async (socket) => {
          socket.on('data', (data: Buffer) => (answers += data.toString().slice(9, 12)));
          socket.write(head);
          await once(socket, 'close');
        }),
      );
    }
    expect(answers.slice(0, 3)).toBe(String(status));
    expect(answers.length).toBe(3 * REQUESTS);
    await expect.poll(open).toBe('0');
    expect((await harness.create()).status).toBe(200);
  });
});
