import { connect as connectPlain } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

/** Time limit of one request, and the server's delay in detecting it. */
const CUT_WITHIN_MS = 25_000;
const TEST_MS = 40_000;
const MAX_HEAD_OCTETS = 16 * 1024;
const MAX_BODY_OCTETS = 128 * 1024;

const port = (): number => Number(harness.environment['CONTROL_PLANE_PORT']);
const opened = (): TLSSocket => connect({ host: '127.0.0.1', port: port(), rejectUnauthorized: false });

/** Everything received until the server closes; fails when it does not close in time. */
function whole(socket: TLSSocket, withinMs = CUT_WITHIN_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the server kept the connection for more than ${withinMs} ms`));
    }, withinMs);
    socket.setEncoding('utf8').on('data', (data: string) => (text += data));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      resolve(text);
    });
  });
}

/** Sends the text slowly, octet by octet, until the server closes. */
function dribble(socket: TLSSocket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), 200);
  socket.on('close', () => clearInterval(timer));
}

const create = (more: string): string =>
  `POST /v1/verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.demo.apiKey}\r\nContent-Type: application/json\r\n${more}`;

describe.concurrent('a slow client', () => {
  it('whose head does not come to its end is cut, with an answer', { timeout: TEST_MS }, async () => {
    const socket = opened();
    dribble(socket, 'GET /v1/verify/x HTTP/1.1\r\nHost: x\r\nX-Slow: '.padEnd(2_000, 'z'));
    const answer = await whole(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"MALFORMED_REQUEST"');
    expect(answer.toLowerCase()).toContain('ratelimit: "ip";');
    expect(answer.toLowerCase()).toContain('\r\nx-content-type-options: nosniff\r\n');
    expect(answer.toLowerCase()).toContain('\r\nstrict-transport-security: max-age=31536000\r\n');
  });

  it('whose body does not come to its end is cut, and nothing is stored', { timeout: TEST_MS }, async () => {
    const before = await harness.countSessions();
    const socket = opened();
    socket.write(create(`Content-Length: 5000\r\n\r\n{"phone": "`));
    dribble(socket, '1');
    const answer = await whole(socket);
    expect(answer).toMatch(/^(HTTP\/1\.1 400 |$)/);
    expect(await harness.countSessions()).toBe(before);
  });

  it('that was refused and keeps its side open is cut', { timeout: TEST_MS }, async () => {
    const plain = connectPlain({ host: '127.0.0.1', port: port(), allowHalfOpen: true });
    const socket = connect({ socket: plain, rejectUnauthorized: false });
    socket.write('this is no HTTP\r\n\r\n');
    dribble(socket, 'and goes on\r\n');
    expect(await whole(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that says nothing is cut', { timeout: TEST_MS }, async () => {
    const answer = await whole(opened());
    expect(answer).not.toContain(' 200 ');
  });

  it('that never finishes the TLS handshake is cut', { timeout: TEST_MS }, async () => {
    const closed = new Promise<void>((resolve, reject) => {
      const socket = connectPlain(port(), '127.0.0.1', () => socket.write(Buffer.from([0x16, 0x03, 0x01])));
      const late = setTimeout(() => reject(new Error('the server waits for the handshake')), CUT_WITHIN_MS);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          clearTimeout(late);
          resolve();
        });
    });
    await closed;
  });
});

describe('an upgrade to another protocol than WebSocket', () => {
  const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';

  it.each([
    ['/v1/openapi.json', 'HTTP/1.1 200 OK', '"openapi":"3.1.0"'],
    ['/docs', 'HTTP/1.1 200 OK', '<!doctype html>'],
    ['/v1/verify', 'HTTP/1.1 200 OK', '"hasMore":'],
    ['/v1/realtime', 'HTTP/1.1 404 Not Found', '"NOT_FOUND"'],
  ])('is ignored: GET %s is answered as without it', async (path, status, part) => {
    const socket = opened();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.demo.apiKey}\r\n${h2c}\r\n`);
    const answer = await whole(socket);
    expect(answer.slice(0, status.length)).toBe(status);
    expect(answer).toContain(part);
  });

  it('is ignored on a request with a body, too', async () => {
    const body = JSON.stringify(harness.createBody());
    const socket = opened();
    socket.write(`${create(`${h2c}Content-Length: ${body.length}\r\n\r\n`)}${body}`);
    const answer = await whole(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('"status":"pending"');
  });
});

describe('a request', () => {
  it('may have a head of up to 16 KiB, and no more', async () => {
    const padded = (octets: number) =>
      harness.call('/elsewhere', { key: null, headers: { 'x-padding': 'a'.repeat(octets) } });
    expect((await padded(MAX_HEAD_OCTETS - 1_000)).status).toBe(404);
    const refused = await padded(MAX_HEAD_OCTETS);
    expect([refused.status, refused.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(refused.headers['connection']).toBe('close');
  });

  it('may have a body of up to 128 KiB, and no more', async () => {
    const padded = (octets: number): string => {
      const body = JSON.stringify(harness.createBody());
      return body.slice(0, -1) + ' '.repeat(octets - body.length) + '}';
    };
    expect((await harness.create({}, { body: padded(MAX_BODY_OCTETS) })).status).toBe(200);
    const refused = await harness.create({}, { body: padded(MAX_BODY_OCTETS + 1) });
    expect([refused.status, refused.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('whose body comes in chunks is measured all the same', async () => {
    const before = await harness.countSessions();
    const socket = opened();
    const chunk = `${MAX_BODY_OCTETS.toString(16)}\r\n${' '.repeat(MAX_BODY_OCTETS)}\r\n`;
    socket.write(`${create('Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n')}${chunk}1\r\n{\r\n0\r\n\r\n`);
    expect(await whole(socket)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await harness.countSessions()).toBe(before);
  });

  it('on a connection that was refused one is answered still', async () => {
    const socket = opened();
    const answers = whole(socket);
    socket.write(
      'GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect((await answers).match(/HTTP\/1\.1 401 /g)).toHaveLength(2);
  });
});
