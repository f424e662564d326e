import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { AccountDirectory, ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { AdminPrincipal } from '@countersign/accounts/admin-keys';
import { Limiter, memoryLimiterStore } from '@countersign/bus';
import { createApiKey, parseApiKey, ServerKeys } from '@countersign/keys';
import { DatabaseUnavailable } from '@countersign/postgres';
import { Metrics } from '@countersign/telemetry';
import type { FastifyInstance } from 'fastify';
import { Client } from 'undici';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestAuthorizer } from './request.authorizer.js';
import { AdminAddresses } from './admin-addresses.js';
import { AllowedMethods } from './allowed-methods.js';
import { ErrorAnswers } from './error-answers.js';
import { Limits } from './limits.js';
import { RequestDeadline } from './request-deadline.js';
import type { RouteAccess } from './route-access.js';
import type { AnsweredRequest } from '../operations/answered-request.js';
import { KeyAuthenticator } from './key-authenticator.js';
import { RawResponses } from './raw-responses.js';
import { RequestAdmission } from './request-admission.js';
import { RequestQueue } from './request-queue.js';
import { RequestTransport } from './request-transport.js';
import { ServerHooks } from './server-hooks.js';
import { ApiServer } from './server.js';

const LIVE = createApiKey('live');
/** The key with another last character. */
const MISTYPED = LIVE.slice(0, -1) + (LIVE.endsWith('x') ? 'y' : 'x');
const NARROW = createApiKey('live');
/** Another key of the same account. */
const SECOND = createApiKey('live');
/** A key with higher limits. */
const WIDE = createApiKey('live');
const WIDE_LIMITS = { default: 1_000_000, create: 1_000_000, usage: 1_000_000 };
const ADMIN = createApiKey('admin');
const ROOT: AdminPrincipal = { kind: 'admin', keyId: null, name: 'root', role: 'owner' };
const principal: ApiKeyPrincipal = {
  keyId: 'k',
  kind: 'live',
  tenant: { accountId: 'a', mode: 'live' },
  scopes: ['verify'],
  limits: {},
};

const keyed = (body: 'json' | 'none' = 'json'): { config: { route: RouteAccess } } => ({
  config: { route: { access: 'key', scope: 'verify', body } },
});

interface Fixture {
  readonly server: FastifyInstance;
  readonly failures: unknown[];
  readonly answered: AnsweredRequest[];
  readonly asked: string[];
  /** The ids of keys that were used. */
  readonly used: string[];
}

/** `more` adds routes. */
async function start(more: (server: FastifyInstance) => unknown = () => undefined): Promise<Fixture> {
  const failures: unknown[] = [];
  const answered: AnsweredRequest[] = [];
  const asked: string[] = [];
  const used: string[] = [];
  const methods = new AllowedMethods();
  const store = memoryLimiterStore();
  const limits = new Limits(new Limiter({ store, fallback: store, onError: (error) => failures.push(error) }));
  const settings = {
    publicBaseUrl: 'https://cs.test',
    adminAllowedCidrs: ['203.0.113.0/24', '2001:db8::/32'],
    tls: { mode: 'proxy', trustedProxies: ['127.0.0.0/8'] },
  } as const;
  const answers = new ErrorAnswers(settings, { failed: (error) => failures.push(error) }, limits);
  const accounts: Pick<AccountDirectory, 'authenticate'> = {
    authenticate: (key) => {
      // As in the real directory: a bad checksum never reaches the database.
      if (parseApiKey(key) !== null) asked.push(key);
      if (key === LIVE) return Promise.resolve(principal);
      if (key === SECOND) return Promise.resolve({ ...principal, keyId: 'second' });
      if (key === WIDE) return Promise.resolve({ ...principal, keyId: 'wide', limits: WIDE_LIMITS });
      return Promise.resolve(key === NARROW ? { ...principal, scopes: ['otp'] } : null);
    },
  };
  const keys = new KeyAuthenticator(
    accounts,
    { authenticate: (key) => Promise.resolve(key === ADMIN ? ROOT : null) },
    ServerKeys.fromMaster(Buffer.alloc(32, 1)),
    new AdminAddresses(settings),
    { onAuthenticated: ({ keyId }) => used.push(...(keyId === null ? [] : [keyId])) },
  );
  const signedOut = {
    authenticate: () => Promise.resolve(null),
    authenticateUpgrade: () => Promise.resolve(null),
    judgeOrigin: () => null,
    judgeUpgrade: () => null,
    judgeWrite: () => null,
  };
  const authorizer = new RequestAuthorizer(new RequestTransport(settings), keys, methods, limits, signedOut);
  const deadline = new RequestDeadline();
  let requests = 0;
  const requestIds = { next: () => `req_${++requests}` };
  const responses = new RawResponses(limits, settings, requestIds);
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  const queue = new RequestQueue(deadline, responses, metrics);
  const admission = new RequestAdmission(authorizer, answers, deadline, queue, settings);
  const apiServer = new ApiServer(settings.tls, requestIds.next);
  const observer = { onAnswer: (answer: AnsweredRequest) => void answered.push(answer) };
  apiServer.use(new ServerHooks(admission, responses, deadline, methods, observer), queue);
  const server: FastifyInstance = apiServer.adapter.getInstance();
  server.setErrorHandler((error, request, reply) => answers.send(reply, answers.toRefusal(error, request)));
  server.get('/docs', { config: { route: { access: 'public' } } }, () => 'docs');
  server.post('/v1/things', keyed(), (request) => ({ size: request.body instanceof Map ? request.body.size : null }));
  server.delete('/v1/things/:id', keyed('none'), (request) => ({ body: request.body instanceof Map }));
  server.get('/v1/things/:id', keyed(), () => Promise.reject(new DatabaseUnavailable('gone')));
  server.get('/v1/broken', keyed(), () => Promise.reject(new Error('the details of our fault')));
  more(server);
  await server.ready();
  return { server, failures, answered, asked, used };
}

const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
const bearer = (key: string) => ({ ...proxied, authorization: `Bearer ${key}` });
const codeOf = (response: { json: () => unknown }) => (response.json() as { error: { code: string } }).error.code;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await start();
});

describe('before a body is read', () => {
  it('every response has a request id and must not be stored', async () => {
    const response = await fixture.server.inject({ url: '/v1/nothing' });
    expect(response.headers).toMatchObject({ 'x-request-id': 'req_1', 'cache-control': 'no-store' });
  });

  it('plain HTTP behind the proxy is refused, never redirected', async () => {
    const response = await fixture.server.inject({
      url: '/v1/things',
      method: 'POST',
      headers: { authorization: 'x' },
    });
    expect([response.statusCode, codeOf(response)]).toEqual([403, 'HTTPS_REQUIRED']);
  });

  it.each([undefined, '', 'Bearer', 'Basic abc', 'Bearer x', `Bearer ${LIVE} y`, `Bearer ${MISTYPED}`, LIVE])(
    'the key "%s" is refused without a database query',
    async (authorization) => {
      const headers = authorization === undefined ? proxied : { ...proxied, authorization };
      const response = await fixture.server.inject({ url: '/v1/things', method: 'POST', headers, payload: '{broken' });
      expect([response.statusCode, codeOf(response)]).toEqual([401, 'UNAUTHORIZED']);
      expect(response.headers['www-authenticate']).toBe('Bearer');
      expect(fixture.asked).toEqual([]);
    },
  );

  it('a well-formed unknown key is refused', async () => {
    const unknown = createApiKey('live');
    const response = await fixture.server.inject({ url: '/v1/things/1', headers: bearer(unknown) });
    expect(response.statusCode).toBe(401);
    expect(fixture.asked).toEqual([unknown]);
  });

  it('the key is checked before the route, and the route before the method', async () => {
    for (const url of ['/v1', '/v1/', '/v1/nothing', '/v1/things/1/2', '/v1/%ff', '/%761/nothing']) {
      expect((await fixture.server.inject({ url, headers: proxied })).statusCode, url).toBe(401);
      const response = await fixture.server.inject({ url, headers: bearer(LIVE), method: 'POST', payload: '{broken' });
      expect([response.statusCode, codeOf(response)], url).toEqual([404, 'NOT_FOUND']);
    }
    const response = await fixture.server.inject({ url: '/v1/things/1', method: 'PUT', headers: bearer(LIVE) });
    expect([response.statusCode, codeOf(response), response.headers.allow]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'DELETE, GET, HEAD',
    ]);
  });

  it('an escaped spelling of a route needs the key too', async () => {
    for (const url of ['/%76%31/things/1', '/v1/%74hings/1']) {
      expect((await fixture.server.inject({ url, headers: proxied })).statusCode).toBe(401);
    }
  });

  it('outside /v1 no key is needed', async () => {
    expect((await fixture.server.inject({ url: '/docs', headers: proxied })).body).toBe('docs');
    expect((await fixture.server.inject({ url: '/nothing', headers: proxied })).statusCode).toBe(404);
    expect((await fixture.server.inject({ url: '/%ff', headers: proxied })).statusCode).toBe(404);
  });

  it('scopes are checked, and an admin key is no account key', async () => {
    for (const key of [NARROW, ADMIN]) {
      const response = await fixture.server.inject({
        url: '/v1/things',
        method: 'POST',
        headers: bearer(key),
        payload: '{broken',
      });
      expect([response.statusCode, codeOf(response)]).toEqual([403, 'FORBIDDEN']);
    }
    expect((await fixture.server.inject({ url: '/v1/nothing', headers: bearer(ADMIN) })).statusCode).toBe(404);
    expect(
      (await fixture.server.inject({ url: '/v1/nothing', headers: bearer(createApiKey('admin')) })).statusCode,
    ).toBe(401);
  });
});

describe('an admin key', () => {
  const from = (address: string) => ({ ...bearer(ADMIN), 'x-forwarded-for': address });

  it.each([
    ['203.0.113.200', 404],
    ['::ffff:203.0.113.200', 404],
    ['2001:db8::7', 404],
    ['203.0.114.1', 401],
    ['203.0.113.9, 198.51.100.1', 401],
    ['198.51.100.1, 203.0.113.9', 404],
    ['198.51.100.1, 203.0.113.9, 127.0.0.9', 404],
    ['unknown', 401],
  ])('from %s is answered with %d', async (address, status) => {
    const response = await fixture.server.inject({ url: '/v1/nothing', headers: from(address) });
    expect(response.statusCode).toBe(status);
  });

  it('from another address is an unknown key, and is counted as one', async () => {
    const answers = [ADMIN, createApiKey('admin')].map((key) =>
      fixture.server.inject({ url: '/v1/nothing', headers: { ...bearer(key), 'x-forwarded-for': '198.51.100.1' } }),
    );
    const [one, other] = await Promise.all(answers);
    expect(one?.body).toBe(other?.body);
    expect(one?.headers['www-authenticate']).toBe('Bearer');
    expect(one?.headers['ratelimit-policy']).toBe('"ip";q=60;w=60');
    const remaining = [one, other].map((answer) => Number(answer?.headers['x-ratelimit-remaining']));
    expect(remaining.sort()).toEqual([58, 59]);
  });
});

describe('a route of the admin API', () => {
  it.each([undefined, 'nothing.list', 'toString'])(
    'with the permission %s, which ADMIN_POLICY lacks, fails the start',
    async (needs) => {
      const route = { access: 'admin', needs, body: 'none' } as unknown as RouteAccess;
      const started = start((server) => server.get('/v1/admin/nothing', { config: { route } }, () => 'x'));
      await expect(started).rejects.toThrow('/v1/admin/nothing does not name a permission of ADMIN_POLICY');
    },
  );
});

describe('the limits', () => {
  it('are in every response, by key or by address', async () => {
    const policies = async (url: string, headers = proxied) =>
      (await fixture.server.inject({ url, headers })).headers['ratelimit-policy'];
    expect(await policies('/v1/broken', bearer(LIVE))).toBe('"default";q=600;w=60');
    expect(await policies('/v1/nothing', bearer(ADMIN))).toBe('"default";q=6000;w=60');
    for (const url of ['/v1/things/1', '/nothing', '/%ff']) expect(await policies(url)).toBe('"ip";q=60;w=60');
    expect((await fixture.server.inject({ url: '/v1/things' })).headers['ratelimit']).toBe('"ip";r=60;t=60');
    expect(await policies('/docs')).toBeUndefined();
  });

  it('report each used account key, never a wrong key or an admin key', async () => {
    for (const key of [LIVE, ADMIN, createApiKey('live')]) {
      await fixture.server.inject({ url: '/v1/nothing', headers: bearer(key) });
    }
    expect(fixture.used).toEqual([principal.keyId]);
  });
});

describe('connections', () => {
  it('close connections beyond the maximum at once', async () => {
    expect(fixture.server.server.maxConnections).toBe(20_257);
    fixture.server.server.maxConnections = 1;
    const { port } = new URL(await fixture.server.listen({ host: '127.0.0.1', port: 0 }));
    const connected = () => connect(Number(port), '127.0.0.1');
    const first = connected();
    await once(first, 'connect');
    const second = connected();
    await once(second, 'close');
    expect(first.destroyed).toBe(false);
    first.destroy();
    await fixture.server.close();
  });
});

describe('the body of a request', () => {
  const post = (payload: string | Buffer | undefined, type: string | undefined) =>
    fixture.server.inject({
      url: '/v1/things',
      method: 'POST',
      headers: { ...bearer(LIVE), ...(type === undefined ? {} : { 'content-type': type }) },
      ...(payload === undefined ? {} : { payload }),
    });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;Charset="UTF-8"',
    'application/json; v=1',
  ])('may be sent as %s', async (type) => {
    expect((await post('{"a":1}', type)).json()).toEqual({ size: 1 });
  });

  it.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=latin1',
    'nonsense',
  ])('may not be sent as %s', async (type) => {
    const response = await post('{"a":1}', type);
    expect([response.statusCode, codeOf(response)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('may not be compressed', async () => {
    const headers = { ...bearer(LIVE), 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const response = await fixture.server.inject({ url: '/v1/things', method: 'POST', headers, payload: '{}' });
    expect(response.statusCode).toBe(415);
  });

  it('is checked for its size before its type, and for its type before its JSON', async () => {
    expect((await post('x'.repeat(128 * 1024 + 1), 'text/plain')).statusCode).toBe(413);
    expect((await post('{broken', 'text/plain')).statusCode).toBe(415);
    expect(codeOf(await post('{broken', 'application/json'))).toBe('MALFORMED_REQUEST');
    const largest = `{"a":"${'x'.repeat(128 * 1024 - 8)}"}`;
    expect((await post(largest, 'application/json')).json()).toEqual({ size: 1 });
  });

  it('of a call without a body may be absent, empty or {}, with or without a type', async () => {
    for (const payload of [undefined, '', '{}']) {
      for (const type of [undefined, 'application/json']) {
        const response = await fixture.server.inject({
          url: '/v1/things/1',
          method: 'DELETE',
          headers: { ...bearer(LIVE), ...(type === undefined ? {} : { 'content-type': type }) },
          ...(payload === undefined ? {} : { payload }),
        });
        expect(response.json()).toEqual({ body: payload === '{}' });
      }
    }
  });
});

describe('a failure', () => {
  it('is 503 with Retry-After when the database is away, and logged', async () => {
    const response = await fixture.server.inject({ url: '/v1/things/1', headers: bearer(LIVE) });
    expect([response.statusCode, codeOf(response), response.headers['retry-after']]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
      '1',
    ]);
    expect(fixture.failures).toHaveLength(1);
  });

  it('is 500 without details when it is unexpected', async () => {
    const response = await fixture.server.inject({ url: '/v1/broken', headers: bearer(LIVE) });
    expect([response.statusCode, codeOf(response)]).toEqual([500, 'INTERNAL_ERROR']);
    expect(response.body).not.toContain('details');
    expect(fixture.failures).toHaveLength(1);
  });

  it('is counted by route and status, never by address', async () => {
    await fixture.server.inject({ url: '/v1/things/secret-id', headers: bearer(LIVE) });
    await fixture.server.inject({ url: '/v1/nothing', headers: bearer(LIVE) });
    expect(fixture.answered.map(({ route, status }) => [route, status])).toEqual([
      ['/v1/things/:id', 503],
      ['none', 404],
    ]);
  });
});

describe('answers that are not read', () => {
  /** A connection that sends so many requests together and reads nothing. */
  async function reckless({ server }: Fixture, head: string, requests = 1): Promise<Socket> {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    // The octets received before the connection is destroyed are discarded.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`GET /${head}\r\nHost: x\r\nX-Forwarded-Proto: https\r\n\r\n`.repeat(requests));
    return socket.pause();
  }

  /** Sends so many requests, with these heads in turn, each over a connection of its own; settles when so many are open. */
  async function unread(fixture: Fixture, requests: number, heads: readonly string[], left: number): Promise<void> {
    const { server } = fixture;
    const open = promisify(server.server.getConnections.bind(server.server));
    const sockets: Socket[] = [];
    for (let count = 0; count < requests; count += 1)
      sockets.push(await reckless(fixture, heads[count % heads.length] ?? ''));
    await expect.poll(open).toBe(left);
    for (const socket of sockets) socket.destroy();
    await server.close();
  }
  const document = Buffer.alloc(4 * 1024 * 1024, 'x');

  it('of public routes are 32 at most: the connection of the oldest is destroyed for one more', async () => {
    const large = await start((instance) =>
      instance.get('/large', { config: { route: { access: 'public' } } }, () => document),
    );
    await large.server.listen({ host: '127.0.0.1', port: 0 });
    await unread(large, 40, ['large HTTP/1.1'], 32);
  });

  it('of public routes are 32 at most also after pipelined ones whose connection has gone', async () => {
    let asked = 0;
    const large = await start((instance) =>
      instance.get('/large', { config: { route: { access: 'public' } } }, () => {
        asked += 1;
        return document;
      }),
    );
    await large.server.listen({ host: '127.0.0.1', port: 0 });
    const pipelined = await reckless(large, 'large HTTP/1.1', 32);
    await expect.poll(() => asked).toBe(32);
    pipelined.destroy();
    await unread(large, 40, ['large HTTP/1.1'], 32);
  });

  it('of one account have 16 MiB at most: beyond that the connections of the oldest are destroyed', async () => {
    const large = await start((instance) => instance.get('/v1/large', keyed('none'), () => document));
    await large.server.listen({ host: '127.0.0.1', port: 0 });
    const heads = [LIVE, SECOND].map(
      (key) => `v1/large HTTP/1.1\r\nX-Forwarded-For: 203.0.113.9\r\nAuthorization: Bearer ${key}`,
    );
    await unread(large, 12, heads, 4);
  });

  it('of one account count no longer once they are read', async () => {
    const large = await start((instance) => instance.get('/v1/large', keyed('none'), () => document));
    await large.server.listen({ host: '127.0.0.1', port: 0 });
    const client = new Client(`http://127.0.0.1:${(large.server.server.address() as AddressInfo).port}`);
    let connections = 0;
    client.on('connect', () => (connections += 1));
    for (let count = 0; count < 8; count += 1) {
      const { statusCode, body } = await client.request({ method: 'GET', path: '/v1/large', headers: bearer(LIVE) });
      expect([statusCode, (await body.arrayBuffer()).byteLength]).toEqual([200, document.length]);
    }
    expect(connections).toBe(1);
    await client.close();
    await large.server.close();
  });
});

describe('beyond the capacity of the process', () => {
  const IN_PROGRESS = 256;
  const WAITING = 1_024;
  const SOCKETS = 32;
  const CREATE =
    `POST /v1/verify HTTP/1.1\r\nHost: cs.test\r\nAuthorization: Bearer ${WIDE}\r\nX-Forwarded-Proto: https\r\n` +
    `X-Forwarded-For: 203.0.113.9\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;

  it('requests wait, and one more is answered 503 on a connection that stays open', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    const { server } = await start((routes) => {
      routes.post('/v1/verify', keyed(), async () => {
        begun += 1;
        await released;
        return 'created';
      });
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = server.server.address() as AddressInfo;
    const sockets = Array.from({ length: SOCKETS + 1 }, () => connect(port, '127.0.0.1'));
    const received = sockets.map(() => '');
    for (const [at, socket] of sockets.entries()) socket.on('data', (octets) => (received[at] += octets.toString()));
    const statuses = (): string[] => received.join('').match(/HTTP\/1\.1 \d{3}/g) ?? [];
    const last = sockets.at(-1);
    try {
      // Pipelined, so that all have arrived before the first of them has waited for long.
      for (const socket of sockets.slice(0, SOCKETS)) socket.write(CREATE.repeat((IN_PROGRESS + WAITING) / SOCKETS));
      await vi.waitFor(() => expect(begun).toBe(IN_PROGRESS));
      last?.write(CREATE);
      await vi.waitFor(() => expect(received.at(-1)).toContain('}}'));
      expect(statuses()).toEqual(['HTTP/1.1 503']);
      const [head = ''] = received.at(-1)?.toLowerCase().split('\r\n\r\n') ?? [];
      for (const header of ['retry-after: 2', 'cache-control: no-store', 'connection: keep-alive'])
        expect(head).toContain(header);
      for (const name of ['x-request-id', 'ratelimit', 'ratelimit-policy', 'x-content-type-options'])
        expect(head).toContain(`\n${name}: `);
      expect(received.at(-1)).toContain('"code":"SERVICE_UNAVAILABLE"');
      release();
      await vi.waitFor(() => expect(statuses()).toHaveLength(IN_PROGRESS + WAITING + 1));
      last?.write(CREATE);
      await vi.waitFor(() => expect(received.at(-1)).toContain('created'));
      expect(statuses().filter((status) => status.endsWith('200'))).toHaveLength(IN_PROGRESS + WAITING + 1);
    } finally {
      release();
      for (const socket of sockets) socket.destroy();
      await server.close();
    }
  });
});
