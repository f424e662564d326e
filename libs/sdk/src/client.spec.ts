import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { APPROVED, CREATE, DELIVERY, PENDING, USAGE } from '../test/answers.js';
import {
  API_KEY,
  closeServers,
  ok,
  portOf,
  refused,
  type Seen,
  serverWith,
  type Step,
} from '../test/scripted-server.js';
import { createChallenge } from './challenge.js';
import { CountersignClient } from './client.js';
import {
  ConnectionError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
} from './errors.js';
import type { FetchFunction } from './transport.js';

const keysOf = (seen: readonly Seen[]): unknown[] => seen.map(({ headers }) => headers['idempotency-key']);

afterEach(closeServers);

describe('create', () => {
  it('sends its arguments, with the key and an Idempotency-Key', async () => {
    const { client, seen } = await serverWith([ok({ ...PENDING, matchCode: '42' })]);
    const session = await client.create(CREATE);
    expect(session).toEqual({ ...PENDING, matchCode: '42' });
    const [request] = seen;
    expect(request?.line).toBe('POST /v1/verify');
    expect(JSON.parse(request?.body ?? '')).toEqual(CREATE);
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      'user-agent': expect.stringMatching(/^countersign-sdk\/\d/) as string,
    });
  });

  it.each<[string, Step]>([
    ['the service was unavailable', refused(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })],
    ['the service failed', refused(500, 'INTERNAL_ERROR')],
    ['a proxy had no upstream', { status: 502, body: '<html>Bad gateway</html>' }],
    ['the quota was exhausted', refused(429, 'RATE_LIMITED', { 'retry-after': '0' })],
    ['the first was still running', refused(409, 'IDEMPOTENCY_IN_PROGRESS')],
    ['the connection broke', 'break'],
    ['nobody answered', 'silence'],
  ])('is retried with the same key and the same octets when %s', async (_what, step) => {
    const { client, seen } = await serverWith([step, step, ok(PENDING)], { attemptTimeoutMs: 1_000 });
    expect(await client.create(CREATE)).toEqual(PENDING);
    expect(seen).toHaveLength(3);
    expect(new Set(keysOf(seen)).size).toBe(1);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  });

  it('has a new key for every call, unless the caller passes one', async () => {
    const { client, seen } = await serverWith([ok(PENDING)]);
    await client.create(CREATE);
    await client.create(CREATE);
    await client.create(CREATE, { idempotencyKey: 'login-7' });
    const [one, two, three] = keysOf(seen);
    expect(one).not.toBe(two);
    expect(three).toBe('login-7');
  });

  it('is not retried when it was refused', async () => {
    const { client, seen } = await serverWith([
      { status: 422, body: { error: { code: 'INVALID_PHONE', message: 'No.', field: 'phone' } } },
    ]);
    const error: unknown = await client.create(CREATE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: 'INVALID_PHONE', field: 'phone', status: 422, requestId: 'req_1' });
    expect(seen).toHaveLength(1);
  });

  it('throws the last error after the last retry', async () => {
    const { client, seen } = await serverWith([refused(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })]);
    await expect(client.create(CREATE)).rejects.toThrow(ServiceError);
    expect(seen).toHaveLength(3);
  });

  it('rejects an answer that is not a session', async () => {
    const { client, seen } = await serverWith([
      ok({ ...PENDING, status: 'approved' }),
      ok({ ...PENDING, clientChallenge: null }),
      ok(''),
    ]);
    for (const _ of [1, 2, 3]) await expect(client.create(CREATE)).rejects.toThrow(UnexpectedAnswerError);
    expect(seen).toHaveLength(3);
  });
});

describe('send-sms', () => {
  const SENT = { success: true, message: 'A code is on its way.', phone: PENDING.phone };

  it('is retried with its key, and needs no body', async () => {
    const { client, seen } = await serverWith(['break', ok(SENT)]);
    expect(await client.sendSms(PENDING.id)).toEqual(SENT);
    expect(seen.map(({ line, body }) => line + body)).toEqual(Array(2).fill(`POST /v1/verify/${PENDING.id}/send-sms`));
    expect(seen[0]?.headers['content-type']).toBeUndefined();
    expect(new Set(keysOf(seen)).size).toBe(1);
  });

  it.each([
    ['RATE_LIMITED', '28'],
    ['SEND_LIMIT_REACHED', '1'],
    ['TOO_MANY_ATTEMPTS', '1'],
  ])('%s with Retry-After %s is thrown at once', async (code, seconds) => {
    const { client, seen } = await serverWith([refused(429, code, { 'retry-after': seconds })]);
    const error: unknown = await client.sendSms(PENDING.id).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LimitError);
    expect(error).toMatchObject({ code, retryAfterSeconds: Number(seconds) });
    expect(seen).toHaveLength(1);
  });
});

describe('check', () => {
  const CHECKED = { id: PENDING.id, status: 'approved', phone: PENDING.phone, authEntropy: 'ab', e2eeKeyShare: 'ab' };

  it('sends the code, without an Idempotency-Key', async () => {
    const { client, seen } = await serverWith([ok(CHECKED)]);
    expect(await client.check(PENDING.id, '012345')).toEqual(CHECKED);
    expect(seen[0]).toMatchObject({ line: `POST /v1/verify/${PENDING.id}/check`, body: '{"code":"012345"}' });
    expect(keysOf(seen)).toEqual([undefined]);
  });

  it.each<[string, Step, new (...of: never[]) => Error]>([
    ['the service was unavailable', refused(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }), ServiceError],
    ['the service failed', refused(500, 'INTERNAL_ERROR'), ServiceError],
    ['a proxy lost the answer', { status: 504, body: 'Gateway timeout' }, UnexpectedAnswerError],
    ['the connection broke', 'break', ConnectionError],
    ['nobody answered', 'silence', TimeoutError],
  ])('is never retried when %s: the attempt may have counted', async (_what, step, error) => {
    const { client, seen } = await serverWith([step, ok(CHECKED)], { attemptTimeoutMs: 1_000 });
    await expect(client.check(PENDING.id, '012345')).rejects.toThrow(error);
    expect(seen).toHaveLength(1);
  });

  it('is retried when the quota refused it', async () => {
    const { client, seen } = await serverWith([refused(429, 'RATE_LIMITED', { 'retry-after': '0' }), ok(CHECKED)]);
    expect(await client.check(PENDING.id, '012345')).toEqual(CHECKED);
    expect(seen).toHaveLength(2);
  });

  it('is retried when nobody listened, as reported by the global fetch', async () => {
    const gone = createServer();
    const baseUrl = `http://127.0.0.1:${await portOf(gone)}`;
    await once(gone.close(), 'close');
    let tries = 0;
    const counted: FetchFunction = (url, request) => {
      tries += 1;
      return fetch(url, request);
    };
    const client = new CountersignClient({ baseUrl, apiKey: API_KEY, fetch: counted });
    await expect(client.check(PENDING.id, '012345')).rejects.toThrow(ConnectionError);
    expect(tries).toBe(3);
  });
});

describe('find and confirm', () => {
  it('return the session, and null for an unknown one', async () => {
    const { client, seen } = await serverWith([ok(APPROVED), refused(404, 'SESSION_NOT_FOUND')]);
    expect(await client.find(PENDING.id)).toEqual(APPROVED);
    expect(await client.find(PENDING.id)).toBeNull();
    expect(seen.map(({ line }) => line)).toEqual(Array(2).fill(`GET /v1/verify/${PENDING.id}`));
  });

  it('are retried: reading changes nothing', async () => {
    const { client, seen } = await serverWith(['break', refused(500, 'INTERNAL_ERROR'), ok(PENDING)]);
    expect(await client.find(PENDING.id)).toEqual(PENDING);
    expect(seen).toHaveLength(3);
  });

  it.each(['', '.', '..', '../usage', 'sess_1/check', 'sess_1?x', 'sess_1#', '%2e%2e', 'a'.repeat(65), 'sess_1\n'])(
    'call no other path: %j is not an id',
    async (id) => {
      const { client, seen } = await serverWith([ok(PENDING)]);
      expect(await client.find(id)).toBeNull();
      await expect(client.cancel(id)).rejects.toThrow(NotFoundError);
      await expect(client.check(id, '012345')).rejects.toThrow(NotFoundError);
      await expect(client.sendSms(id)).rejects.toThrow(NotFoundError);
      expect(seen).toHaveLength(0);
    },
  );

  describe('confirm', () => {
    const SECOND_MS = 1_000;

    /** An approved session of `secret` with a ttl of 90 s, approved that many milliseconds ago. */
    async function approvedAgo(ms: number): Promise<{ secret: string; session: typeof APPROVED }> {
      const { secret, challenge } = await createChallenge();
      const approvedAtMs = Date.now() - ms;
      const session = {
        ...APPROVED,
        clientChallenge: challenge.toUpperCase(),
        createdAt: new Date(approvedAtMs - 4_314).toISOString(),
        approvedAt: new Date(approvedAtMs).toISOString(),
        expiresAt: new Date(approvedAtMs - 4_314 + 90 * SECOND_MS).toISOString(),
      };
      return { secret, session };
    }

    it('returns only an approved session that was created for this secret', async () => {
      const { secret, session } = await approvedAgo(0);
      const { client } = await serverWith([
        ok(session),
        ok(session),
        ok({ ...PENDING, clientChallenge: session.clientChallenge }),
        refused(404, 'SESSION_NOT_FOUND'),
      ]);
      expect(await client.confirm(PENDING.id, secret)).toEqual(session);
      expect(await client.confirm(PENDING.id, `${secret} `)).toBeNull();
      expect(await client.confirm(PENDING.id, secret)).toBeNull();
      expect(await client.confirm(PENDING.id, secret)).toBeNull();
    });

    it('rejects a test session by default', async () => {
      const { secret, session } = await approvedAgo(0);
      const test = { ...session, test: true };
      const { client } = await serverWith([ok(test), ok(test)]);
      expect(await client.confirm(PENDING.id, secret)).toBeNull();
      expect(await client.confirm(PENDING.id, secret, { allowTest: true })).toEqual(test);
    });

    it('rejects a session whose test mark is not true: it is not a Session', async () => {
      const { secret, session } = await approvedAgo(0);
      const { client } = await serverWith([ok({ ...session, test: 'true' })]);
      await expect(client.confirm(PENDING.id, secret)).rejects.toThrow(UnexpectedAnswerError);
    });

    it.each([
      ['within the session’s ttl', 80, undefined, true],
      ['after the session’s ttl', 100, undefined, false],
      ['within maxAgeSeconds', 100, 120, true],
      ['after maxAgeSeconds', 80, 60, false],
    ])('accepts an approval %s or not', async (_name, agoSeconds, maxAgeSeconds, taken) => {
      const { secret, session } = await approvedAgo(agoSeconds * SECOND_MS);
      const { client } = await serverWith([ok(session)]);
      const options = maxAgeSeconds === undefined ? {} : { maxAgeSeconds };
      expect(await client.confirm(PENDING.id, secret, options)).toEqual(taken ? session : null);
    });

    it.each([
      ['approvedAt', { approvedAt: 'today' }, undefined],
      ['createdAt', { createdAt: '' }, undefined],
      ['expiresAt', { expiresAt: 'never' }, undefined],
      ['maxAgeSeconds', {}, Number.NaN],
    ])('returns null when the age is not a number: %s', async (_name, changes, maxAgeSeconds) => {
      const { secret, session } = await approvedAgo(0);
      const { client, seen } = await serverWith([ok({ ...session, ...changes })]);
      const options = maxAgeSeconds === undefined ? {} : { maxAgeSeconds };
      expect(await client.confirm(PENDING.id, secret, { consume: true, ...options })).toBeNull();
      expect(seen).toHaveLength(1);
    });

    it('consumes the session on request, and returns null to the second call', async () => {
      const { secret, session } = await approvedAgo(0);
      const { client, seen } = await serverWith([
        ...[ok(session), ok(session)],
        ...[ok(session), refused(409, 'SESSION_CONSUMED')],
        ok(session),
      ]);
      expect(await client.confirm(PENDING.id, secret, { consume: true })).toEqual(session);
      expect(await client.confirm(PENDING.id, secret, { consume: true })).toBeNull();
      expect(await client.confirm(PENDING.id, 'another secret', { consume: true })).toBeNull();
      const get = `GET /v1/verify/${PENDING.id}`;
      const post = `POST /v1/verify/${PENDING.id}/consume`;
      expect(seen.map(({ line }) => line)).toEqual([get, post, get, post, get]);
    });
  });

  it('consume throws for a session that was consumed before, or is not approved', async () => {
    const { client } = await serverWith([
      ok(APPROVED),
      refused(409, 'SESSION_CONSUMED'),
      refused(409, 'SESSION_NOT_APPROVED'),
    ]);
    expect(await client.consume(PENDING.id)).toEqual(APPROVED);
    await expect(client.consume(PENDING.id)).rejects.toMatchObject({ name: 'ConflictError', code: 'SESSION_CONSUMED' });
    await expect(client.consume(PENDING.id)).rejects.toMatchObject({ code: 'SESSION_NOT_APPROVED' });
  });

  it('throw when the key is wrong, not the session', async () => {
    const { client } = await serverWith([refused(404, 'NOT_FOUND'), refused(401, 'UNAUTHORIZED')]);
    await expect(client.find(PENDING.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.confirm(PENDING.id, 'secret')).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});

describe('the other calls', () => {
  it('cancel, with retries', async () => {
    const { client, seen } = await serverWith(['break', { status: 204 }]);
    await client.cancel(PENDING.id);
    expect(seen.map(({ line }) => line)).toEqual(Array(2).fill(`DELETE /v1/verify/${PENDING.id}`));
  });

  it('list with a query, and page by page', async () => {
    const { authEntropy: _, ...listed } = APPROVED;
    const page = { data: [PENDING, listed], hasMore: true };
    const { client, seen } = await serverWith([ok(page)]);
    expect(await client.list()).toEqual(page);
    await client.list({ status: 'approved', phone: '+14155552671', limit: 2, startingAfter: PENDING.id });
    expect(seen.map(({ line }) => line)).toEqual([
      'GET /v1/verify',
      `GET /v1/verify?status=approved&phone=%2B14155552671&limit=2&startingAfter=${PENDING.id}`,
    ]);
  });

  it('report usage between two moments', async () => {
    const { client, seen } = await serverWith([
      ok({ ...USAGE, breakdown: [{ ...USAGE, period: undefined, day: '2026-11-01' }] }),
    ]);
    const report = await client.usage({
      from: new Date('2026-11-01T00:00:00Z'),
      to: '2026-11-21T01:00:00+01:00',
      groupBy: 'day',
    });
    expect(report.breakdown?.[0]?.day).toBe('2026-11-01');
    expect(seen[0]?.line).toBe(
      'GET /v1/usage?from=2026-11-01T00%3A00%3A00.000Z&to=2026-11-21T01%3A00%3A00%2B01%3A00&groupBy=day',
    );
  });

  it('request a ticket for a page', async () => {
    const ticket = { ticket: 'rtk_1', expiresAt: '2026-11-21T12:00:00.000Z', url: 'wss://localhost/v1/realtime' };
    const { client, seen } = await serverWith([ok(ticket), ok({ ticket: 7 })]);
    expect(await client.realtimeTicket(PENDING.id)).toEqual(ticket);
    expect(seen[0]?.line).toBe(`POST /v1/verify/${PENDING.id}/realtime-ticket`);
    await expect(client.realtimeTicket(PENDING.id)).rejects.toMatchObject({ name: 'UnexpectedAnswerError' });
  });

  it('list webhook deliveries, retry one, send a test, and rotate the secret', async () => {
    const rotated = { secret: 'whsec_AAAA', previousValidUntil: '2026-11-22T12:00:00.000Z' };
    const { client, seen } = await serverWith([
      ok({ data: [DELIVERY], hasMore: false }),
      ok(DELIVERY),
      { status: 202, body: DELIVERY },
      { status: 202, body: DELIVERY },
      { status: 202, body: DELIVERY },
      ok(rotated),
    ]);
    expect((await client.listDeliveries({ status: 'failed' })).data).toEqual([DELIVERY]);
    expect(await client.findDelivery(DELIVERY.id)).toEqual(DELIVERY);
    expect(await client.retryDelivery(DELIVERY.id)).toEqual(DELIVERY);
    expect(await client.testWebhook()).toEqual(DELIVERY);
    expect(await client.testWebhook('https://example.com/hook')).toEqual(DELIVERY);
    expect(await client.rotateWebhookSecret()).toEqual(rotated);
    expect(seen.map(({ line }) => line)).toEqual([
      'GET /v1/webhooks/deliveries?status=failed',
      `GET /v1/webhooks/deliveries/${DELIVERY.id}`,
      `POST /v1/webhooks/deliveries/${DELIVERY.id}/retry`,
      'POST /v1/webhooks/test',
      'POST /v1/webhooks/test',
      'POST /v1/webhooks/secret/rotate',
    ]);
    expect(seen.slice(3, 5).map(({ body }) => body)).toEqual(['', '{"url":"https://example.com/hook"}']);
  });
});
