import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { createApiKey } from '@countersign/keys';
import { Client } from 'undici';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RouteAccess } from './route-access.js';
import {
  LIVE,
  MISTYPED,
  NARROW,
  SECOND,
  ADMIN,
  principal,
  keyed,
  type Fixture,
  start,
  proxied,
  bearer,
  codeOf,
} from './server.fixture.js';

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
