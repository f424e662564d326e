import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookAnswer } from './rbm-webhook.handler.js';
import { judgeWebhookHead, MAX_BODY_OCTETS } from './webhook-head.js';
import { WEBHOOK_PATH, WebhookServer } from './webhook.server.js';

let server: WebhookServer;
let url: string;
let port: number;
let answer: WebhookAnswer;
let unread: string[];
let posts: { readonly octets: Buffer; readonly signature: string | undefined }[];

beforeAll(async () => {
  server = new WebhookServer(
    { httpHost: '127.0.0.1', httpPort: 0 },
    {
      checkHead: (head) => judgeWebhookHead(head),
      countUnreadBody: (result) => void unread.push(result),
      handlePost: (octets, signature) => {
        posts.push({ octets, signature });
        return Promise.resolve(answer);
      },
    },
  );
  port = await server.listen();
  url = `http://127.0.0.1:${port}`;
});
beforeEach(() => {
  answer = { kind: 'accepted' };
  posts = [];
  unread = [];
});
afterAll(() => server.close());

const post = (body: RequestInit['body'], headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}${WEBHOOK_PATH}`, {
    method: 'POST',
    body: body ?? null,
    headers: { 'content-type': 'application/json', ...headers },
  });

async function refusalOf(response: Response): Promise<{ status: number; code: unknown }> {
  const body: unknown = await response.json();
  expect(body).toEqual({ error: { code: expect.any(String) as unknown, message: expect.any(String) as unknown } });
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  return { status: response.status, code: (body as { error: { code: unknown } }).error.code };
}

describe('the webhook', () => {
  it('passes on the unchanged octets and the signature', async () => {
    const response = await post('{"a" : 1}', { 'x-goog-signature': 'abc=' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(posts).toEqual([{ octets: Buffer.from('{"a" : 1}'), signature: 'abc=' }]);
  });

  it('answers a handshake with the bare secret', async () => {
    answer = { kind: 'secret', text: '<1234567890>' };
    const response = await post('{}');
    expect([response.status, await response.text()]).toEqual([200, '<1234567890>']);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('answers Retry-After when it cannot store an event', async () => {
    answer = { kind: 'refused', code: 'SERVICE_UNAVAILABLE' };
    const response = await post('{}');
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await refusalOf(response)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
    'accepts %s',
    async (type) => {
      expect((await post('{}', { 'content-type': type })).status).toBe(200);
    },
  );

  it.each(['text/plain', 'application/jsonx', 'application/x-www-form-urlencoded', 'x'])('refuses %s', async (type) => {
    expect(await refusalOf(await post('{}', { 'content-type': type }))).toEqual({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
    expect(posts).toEqual([]);
  });

  it('refuses a body that is too large', async () => {
    const response = await post(Buffer.alloc(MAX_BODY_OCTETS + 1, 'x'));
    expect(await refusalOf(response)).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses the method %s', async (method) => {
    const response = await fetch(`${url}${WEBHOOK_PATH}?x=1`, { method });
    expect(response.headers.get('allow')).toBe('POST');
    expect(await refusalOf(response)).toEqual({ status: 405, code: 'METHOD_NOT_ALLOWED' });
  });

  it.each(['/', '/rcs', '/rcs/webhook/', '/rcs/webhookx', '/RCS/webhook', '/v1/verify', '/metrics'])(
    'is not at %s',
    async (path) => {
      const response = await fetch(`${url}${path}`, { method: 'POST' });
      expect(await refusalOf(response)).toEqual({ status: 404, code: 'NOT_FOUND' });
    },
  );

  it.each([
    ['a path that cannot be decoded', 'POST /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400],
    ['a head without end', `GET / HTTP/1.1\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`, 413],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ])('refuses %s in the same form', async (_, octets, status) => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    socket.write(octets);
    const received = await text(socket);
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received.toLowerCase()).toContain('\r\nx-content-type-options: nosniff\r\n');
    expect(received).toMatch(/\{"error":\{"code":"[A-Z_]+","message":"[^"]+"\}\}$/);
  });
});

const SIGNATURE = `${'A'.repeat(86)}==`;
/** The server's interval of timeout checks, with a margin for a busy machine. */
const CLOSED_WITHIN_MS = 15_000;

/** A request whose body is incomplete. */
async function stalled(headers: readonly string[], body: string | Buffer = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.write([`POST ${WEBHOOK_PATH} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n'));
  socket.write(body);
  return socket;
}

const LARGE = String(MAX_BODY_OCTETS + 1);

describe('a body that is refused', () => {
  it.each<[string, readonly string[], number]>([
    ['unsigned and larger than a handshake', ['Content-Length: 10000'], 401],
    ['signed and too large', [`Content-Length: ${LARGE}`, `X-Goog-Signature: ${SIGNATURE}`], 413],
    ['of another type', ['Content-Length: 100', 'Content-Type: text/plain'], 415],
  ])('is refused by its headers, and its connection closed: %s', async (_, headers, status) => {
    const socket = await stalled(headers);
    const received = await text(socket);
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(received.toLowerCase()).toContain('connection: close');
    expect(posts).toEqual([]);
  });

  it('is refused without 100 Continue', async () => {
    const socket = await stalled(['Content-Length: 10000', 'Expect: 100-continue']);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 401 /);
  });

  it('is refused at the octet that exceeds the limit when it is chunked', async () => {
    const chunk = `${MAX_BODY_OCTETS.toString(16)}\r\n${'x'.repeat(MAX_BODY_OCTETS)}\r\n1\r\nx\r\n`;
    const signed = await stalled(['Transfer-Encoding: chunked', `X-Goog-Signature: ${SIGNATURE}`], chunk);
    expect(await text(signed)).toMatch(/^HTTP\/1.1 413 /);
    const unsigned = await stalled(['Transfer-Encoding: chunked'], chunk);
    expect(await text(unsigned)).toMatch(/^HTTP\/1.1 401 /);
    expect(unread).toEqual(['too_large', 'too_large']);
  });

  it('is evicted, when it stalls, by the hundredth later body', async () => {
    const headers = ['Content-Length: 100', `X-Goog-Signature: ${SIGNATURE}`];
    const oldest = await stalled(headers, 'x');
    const others: Socket[] = [];
    for (let nth = 0; nth < 100; nth += 1) others.push(await stalled(headers, 'x'));
    const received = await text(oldest);
    expect(received).toMatch(/^HTTP\/1.1 503 /);
    expect(received.toLowerCase()).toContain('retry-after: 1');
    expect((await post('{}', { 'x-goog-signature': SIGNATURE })).status).toBe(200);
    for (const socket of others) socket.destroy();
  });

  it.each<[string, readonly string[], string]>([
    ['a body', ['Content-Length: 100', `X-Goog-Signature: ${SIGNATURE}`], 'x'],
    ['the end of the headers', [], ''],
  ])(
    'times out after ten seconds: %s',
    async (what, headers, body) => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const head = [`POST ${WEBHOOK_PATH} HTTP/1.1`, 'Host: x', ...headers].join('\r\n');
      socket.write(what === 'a body' ? `${head}\r\n\r\n${body}` : head);
      expect(await text(socket)).toMatch(/^HTTP\/1.1 408 /);
    },
    CLOSED_WITHIN_MS,
  );
});

describe('a signed body', () => {
  it('is requested with 100 Continue when the client expects it', async () => {
    const headers = [
      'Content-Length: 2',
      `X-Goog-Signature: ${SIGNATURE}`,
      'Expect: 100-continue',
      'Connection: close',
    ];
    const socket = await stalled(headers);
    const received = text(socket);
    socket.write('{}');
    expect(await received).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/);
  });
});
