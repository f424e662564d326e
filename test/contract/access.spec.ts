import { AccountStore } from '@countersign/accounts/accounts';
import { createApiKey } from '@countersign/keys';
import { parseId } from '@countersign/ids';
import { connect as tlsConnect } from 'node:tls';
import { connect as netConnect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let accounts: AccountStore;
let accountId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  accountId = parseId('acct', harness.demo.accountId) ?? '';
});
afterAll(() => harness.close());

const SESSION = '/v1/verify/sess_00000000000000000000000000';
const port = (): number => Number(harness.environment['CONTROL_PLANE_PORT']);

/** Sends raw octets over TLS and returns everything received until the server closes. */
function raw(octets: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({ host: '127.0.0.1', port: port(), rejectUnauthorized: false }, () =>
      socket.write(octets),
    );
    let text = '';
    socket.setEncoding('utf8').on('data', (data: string) => (text += data));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

const bodyOf = (response: string): { error: { code: string } } =>
  JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4)) as { error: { code: string } };

const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'strict-transport-security': 'max-age=31536000' };

describe('every answer', () => {
  it('carries a request id of its own and is not stored', async () => {
    const answers = [
      await harness.create(),
      await harness.call(SESSION),
      await harness.call(SESSION, { method: 'DELETE' }),
      await harness.call(SESSION, { key: null }),
      await harness.call('/v1/nothing'),
      await harness.call('/v1/verify', { method: 'PUT' }),
      await harness.create({}, { body: '{' }),
    ];
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    for (const id of ids) expect(id).toMatch(/^req_[0-9A-Za-z]+$/);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
  });

  it.each(['/docs', '/docs/errors', '/docs/nothing', '/v1/openapi.json', '/v1/nothing', '/nothing', '/%zz'])(
    'says that its type is not to be guessed, and that this host is asked over TLS alone: %s',
    async (path) => {
      expect((await harness.call(path, { key: null })).headers).toMatchObject(SECURITY_HEADERS);
    },
  );

  it('says so on a success, too', async () => {
    expect((await harness.create()).headers).toMatchObject(SECURITY_HEADERS);
  });

  it('allows no page of another origin', async () => {
    const answer = await harness.call(SESSION, { headers: { origin: 'https://evil.example' } });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await harness.call('/v1/verify', { method: 'OPTIONS' })).status).toBe(405);
  });
});

describe('a key', () => {
  it.each([
    ['missing', null, {}],
    ['of another scheme', null, { authorization: 'Basic dXNlcjpwdw==' }],
    ['empty', null, { authorization: 'Bearer ' }],
    ['mistyped', `${createApiKey('live').slice(0, -1)}_`, {}],
    ['unknown', createApiKey('live'), {}],
    ['of the test kind that nobody has', createApiKey('test'), {}],
    ['an unknown admin key', createApiKey('admin'), {}],
    ['very long', `csk_live_${'a'.repeat(8_000)}`, {}],
  ])('that is %s is 401 before anything else is looked at', async (_what, key, headers) => {
    for (const answer of [
      await harness.create({}, { key, headers, body: '{' }),
      await harness.call(SESSION, { key, headers }),
      await harness.call('/v1/nothing', { key, headers }),
      await harness.call('/v1/verify', { key, headers, method: 'PATCH' }),
      await harness.call('/v1', { key, headers }),
    ]) {
      expect([answer.status, answer.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('in a URL is no key', async () => {
    expect((await harness.call(`${SESSION}?key=${harness.demo.apiKey}`, { key: null })).status).toBe(401);
  });

  it('works in any case of the scheme', async () => {
    expect(
      (await harness.call(SESSION, { key: null, headers: { authorization: `bearer ${harness.demo.apiKey}` } })).status,
    ).toBe(404);
  });

  it('without the scope verify is 403', async () => {
    const { key } = await accounts.createApiKey(harness.database, {
      accountId,
      kind: 'live',
      name: 'usage',
      scopes: ['usage', 'otp'],
    });
    const answer = await harness.create({}, { key, body: '{' });
    expect([answer.status, answer.code, answer.field]).toEqual([403, 'FORBIDDEN', undefined]);
  });

  it('of an engineer is 403 on /v1/verify and finds nothing elsewhere', async () => {
    const key = harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';
    expect((await harness.create({}, { key, body: '{' })).code).toBe('FORBIDDEN');
    expect((await harness.call(SESSION, { key })).code).toBe('FORBIDDEN');
    expect((await harness.call('/v1/nothing', { key })).code).toBe('NOT_FOUND');
  });

  it('that was just created works at once, and ends within 5 s of its revocation', async () => {
    const { id, key } = await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'short' });
    expect((await harness.call(SESSION, { key })).status).toBe(404);
    await accounts.revokeApiKey(harness.database, id);
    await expect.poll(async () => (await harness.call(SESSION, { key })).status, { timeout: 5_000 }).toBe(401);
  });

  it('was last used when it was, which is written down at the end of the process at the latest', async () => {
    const { id, key } = await accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'watched' });
    const lastUse = async (): Promise<Date | null | undefined> => {
      const rows = await harness.database.query<{ at: Date | null }>(
        'SELECT last_used_at AS at FROM api_keys WHERE id = $1',
        [id],
      );
      return rows[0]?.at;
    };
    expect(await lastUse()).toBeNull();
    expect((await harness.call(SESSION, { key })).status).toBe(404);
    await harness.stop();
    await harness.start();
    expect(await lastUse()).toBeInstanceOf(Date);
  });
});

describe('a route', () => {
  it.each(['/v1', '/v1/', '/v1/verify/', '/v1/verify/a/b', '/v1/Verify', '/v1/verify%2F', '/v1//verify', '/v1/%ff'])(
    'that is not there (%s) is 404',
    async (target) => {
      const answer = await harness.call(target, { method: 'POST', body: '{' });
      expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
    },
  );

  it.each(['GET', 'DELETE', 'HEAD'])('whose address cannot be read is not there for %s', async (method) => {
    const answer = await harness.call('/v1/verify/%E0%A4%A', { method });
    expect(answer.status).toBe(404);
    expect(answer.headers['allow']).toBeUndefined();
  });

  it.each([
    ['/v1/verify', 'PATCH', 'GET, HEAD, POST'],
    ['/v1/verify', 'DELETE', 'GET, HEAD, POST'],
    [SESSION, 'POST', 'DELETE, GET, HEAD'],
    [SESSION, 'PUT', 'DELETE, GET, HEAD'],
    [SESSION, 'OPTIONS', 'DELETE, GET, HEAD'],
  ] as const)('%s does not answer to %s', async (target, method, allow) => {
    const answer = await harness.call(target, { method });
    expect([answer.status, answer.code, answer.headers['allow']]).toEqual([405, 'METHOD_NOT_ALLOWED', allow]);
  });

  it('outside /v1 needs no key to be missing', async () => {
    const answer = await harness.call('/elsewhere', { key: null });
    expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the public pages', () => {
  it('are there for every docUrl, without a key', async () => {
    const refused = await harness.call('/v1/nothing');
    const { docUrl } = refused.json['error'] as { docUrl: string };
    expect(docUrl.startsWith(`${harness.baseUrl}/docs/errors/`)).toBe(true);
    const page = await harness.call(docUrl.slice(harness.baseUrl.length), { key: null });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('NOT_FOUND');
    expect((await harness.call('/docs', { key: null })).text).toContain('/docs/errors/INVALID_PHONE');
    expect((await harness.call('/docs/errors/NO_SUCH_CODE', { key: null })).code).toBe('NOT_FOUND');
  });

  it('never take the address of the service from the request', async () => {
    const response = await raw('GET /elsewhere HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(response).toContain(harness.baseUrl);
    expect(response).not.toContain('evil');
  });
});

describe('the transport', () => {
  it('is TLS 1.3 and nothing older', async () => {
    const attempt = new Promise((resolve) => {
      const socket = tlsConnect({ host: '127.0.0.1', port: port(), rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
      socket.on('secureConnect', () => resolve('connected'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    expect(await attempt).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  it('answers nothing to plain HTTP', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = netConnect(port(), '127.0.0.1', () => socket.write('GET /docs HTTP/1.1\r\nHost: x\r\n\r\n'));
      let text = '';
      socket.on('data', (data) => (text += data.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    expect(answer).not.toContain('HTTP/');
  });

  it.each([
    ['words that are no request', 'hello\r\n\r\n', 400],
    ['a request without Host', `GET ${SESSION} HTTP/1.1\r\nConnection: close\r\n\r\n`, 400],
    ['a length twice', 'POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a bad header', 'GET / HTTP/1.1\r\nHost: x\r\nbad header: x\r\n\r\n', 400],
    ['a head without end', `GET / HTTP/1.1\r\nHost: x\r\nx: ${'a'.repeat(20_000)}`, 413],
    ['a target that is no path', `GET *v1/verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 404],
    ['a question about the server as a whole', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
    ['a method of another protocol', 'PROPFIND /v1/verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 401],
    ['an absolute target', `GET https://evil.example/v1/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 401],
    ['an expectation', 'GET /elsewhere HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nConnection: close\r\n\r\n', 404],
  ])('refuses %s with a body of the catalogue', async (_what, octets, status) => {
    const response = await raw(octets);
    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(response.toLowerCase()).toContain('x-request-id: req_');
    expect(bodyOf(response).error.code).toBeDefined();
  });
});
