import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  ApiError,
  ConnectionError,
  CountersignClient,
  createChallenge,
  InvalidCodeError,
  parseFallbackUri,
  verifyWebhook,
  type CreateSession,
  type FetchFunction,
} from '@countersign/sdk';
import { Webhook } from 'standardwebhooks';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let agent: Agent;
/** The fetch function of a caller with a certificate authority of their own. */
let trusting: FetchFunction;
let client: CountersignClient;
let testClient: CountersignClient;

const clientOf = (apiKey: string, fetch = trusting): CountersignClient =>
  new CountersignClient({ baseUrl: harness.baseUrl, apiKey, fetch });

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  const caFile = path.join(path.dirname(harness.environment['TLS_CERT_FILE'] ?? ''), 'ca.pem');
  agent = new Agent({ connect: { ca: readFileSync(caFile, 'utf8') } });
  trusting = (url, request) => undiciFetch(url, { ...request, dispatcher: agent });
  client = clientOf(harness.demo.apiKey);
  testClient = clientOf(harness.demo.testApiKey);
});
afterAll(async () => {
  await agent.close();
  await harness.close();
});

function requestFor(clientChallenge: string, changes: Partial<CreateSession> = {}): CreateSession {
  const { accountId, brandId } = harness.demo;
  return { phone: PHONE, accountId, brandId, clientChallenge, ...changes };
}
const anyRequest = (changes: Partial<CreateSession> = {}): CreateSession => requestFor('ab'.repeat(32), changes);

const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

describe('the client', () => {
  it('does the whole pattern of specification 4.7', async () => {
    const { secret, challenge } = await createChallenge();
    const session = await client.create(requestFor(challenge, { metadata: { orderId: '7' }, ttl: 60 }));
    expect(session).toMatchObject({ status: 'pending', channel: 'sms_fallback', metadata: { orderId: '7' } });
    const message = parseFallbackUri(session.fallbackUri ?? '');
    expect(message?.number).toBe(harness.demo.inboundNumber);
    expect(message?.text).toMatch(/^AUTH-ACME-[0-9A-Z]{16}\n\S/);
    expect(await client.find(session.id)).toEqual(session);
    expect(await client.confirm(session.id, secret)).toBeNull();

    await harness.approve(session.id);
    const confirmed = await client.confirm(session.id, secret);
    expect(confirmed).toMatchObject({ id: session.id, status: 'approved', phone: PHONE });
    expect(confirmed?.authEntropy).toMatch(/^[0-9a-f]{64}$/);
    expect(await client.confirm(session.id, (await createChallenge()).secret)).toBeNull();
  });

  it('opens one session when the answer got lost on its way', async () => {
    const before = await harness.countSessions();
    let lost = 0;
    const losing: FetchFunction = async (url, request) => {
      const answer = await trusting(url, request);
      if (lost > 0) return answer;
      lost += 1;
      await answer.text();
      throw new TypeError('fetch failed');
    };
    const session = await clientOf(harness.demo.apiKey, losing).create(anyRequest());
    expect([lost, await harness.countSessions()]).toEqual([1, before + 1]);
    expect(await client.find(session.id)).toEqual(session);
  });

  it('gets the same session for the same Idempotency-Key, in another process too', async () => {
    const one = await client.create(anyRequest(), { idempotencyKey: 'login-7' });
    expect(await clientOf(harness.demo.apiKey).create(anyRequest(), { idempotencyKey: 'login-7' })).toEqual(one);
    const reused = await thrownBy(client.create(anyRequest({ ttl: 31 }), { idempotencyKey: 'login-7' }));
    expect(reused).toMatchObject({ name: 'InvalidRequestError', code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  it('lists and cancels', async () => {
    const { id } = await client.create(anyRequest());
    await client.cancel(id);
    await client.cancel(id);
    expect(await client.find(id)).toMatchObject({ id, status: 'cancelled', latencyMs: null });
    const page = await client.list({ status: 'cancelled', limit: 1 });
    expect(page.data.map((session) => session.id)).toEqual([id]);
    const older = await client.list({ limit: 100, startingAfter: id });
    expect([older.hasMore, older.data.every((session) => session.id < id)]).toEqual([false, true]);
  });

  it('reports usage', async () => {
    const report = await client.usage({ from: new Date(Date.now() - 3_600_000), groupBy: 'day' });
    expect(report.verifications.total).toBeGreaterThan(0);
    expect(report.breakdown?.length).toBeGreaterThan(0);
    expect(await thrownBy(client.usage({ from: 'yesterday' }))).toMatchObject({
      code: 'VALIDATION_ERROR',
      field: 'from',
    });
  });

  it('sends and checks codes', async () => {
    const { id } = await testClient.create(anyRequest({ phone: '+15005550006' }));
    expect(await thrownBy(testClient.check(id, '424242'))).toMatchObject({
      name: 'ConflictError',
      code: 'OTP_NOT_SENT',
    });
    expect(await testClient.sendSms(id)).toMatchObject({ success: true, phone: '+15005550006' });
    const wrong = await thrownBy(testClient.check(id, '000000'));
    expect(wrong).toBeInstanceOf(InvalidCodeError);
    expect(wrong).toMatchObject({ status: 422, field: 'code', attemptsRemaining: 4 });
    const soon = await thrownBy(testClient.sendSms(id));
    expect(soon).toMatchObject({ name: 'LimitError', code: 'RATE_LIMITED' });
    const checked = await testClient.check(id, '424242');
    expect(checked).toMatchObject({ id, status: 'approved', e2eeKeyShare: checked.authEntropy });
    expect(await thrownBy(testClient.check(id, '424242'))).toMatchObject({ code: 'SESSION_NOT_PENDING' });
    expect(await testClient.find(id)).toMatchObject({ status: 'approved', authEntropy: checked.authEntropy });
  });

  it('returns sessions of cards with their type', async () => {
    const { secret, challenge } = await createChallenge();
    const session = await testClient.create(requestFor(challenge, { phone: '+15005550002' }));
    expect(session).toMatchObject({ channel: 'rcs', fallbackUri: null });
    const confirm = (options = {}) => testClient.confirm(session.id, secret, options);
    await until('the card was approved', 10_000, async () => (await confirm({ allowTest: true })) !== null);
    expect(await confirm()).toBeNull();
    const once = { allowTest: true, consume: true };
    expect(await confirm(once)).toMatchObject({ status: 'approved', test: true });
    expect(await confirm(once)).toBeNull();
    expect(await thrownBy(testClient.consume(session.id))).toMatchObject({ code: 'SESSION_CONSUMED' });
  });
});

describe('the calls about the account', () => {
  it('are typed: account, webhook, keys, brands and requests', async () => {
    const admin = new AdminCalls(harness);
    const { accountId, brandId } = harness.demo;
    const made = await admin.post('keys', { accountId, name: 'developer', scopes: ['verify', 'account'] });
    const { account } = clientOf(String(made.json['key']));
    const own = await account.show();
    expect([own.id, own.key.kind, own.key.scopes]).toEqual([accountId, 'live', ['verify', 'account']]);
    expect((await account.changeWebhook({ webhookEvents: ['verification.denied'] })).webhookEvents).toEqual([
      'verification.denied',
    ]);
    expect((await account.webhook()).webhookEvents).toEqual(['verification.denied']);
    const key = await account.createKey({ name: 'ci', scopes: ['verify'] });
    expect((await clientOf(key.key).list()).data).toEqual(expect.any(Array));
    const rotated = await account.rotateKey(key.id);
    expect([rotated.id, rotated.key === key.key]).toEqual([key.id, false]);
    expect((await account.revokeKey(key.id)).revokedAt).toEqual(expect.any(String));
    expect((await account.findKey(key.id)).name).toBe('ci');
    expect((await account.listKeys({ limit: 1 })).data).toHaveLength(1);
    expect((await account.listBrands()).data.map(({ id }) => id)).toContain(brandId);
    const brand = await account.changeBrand(brandId, { instruction: 'Send this to sign in.' });
    expect((await account.findBrand(brandId)).instruction).toBe(brand.instruction);
    expect((await account.listRequests()).data).toEqual(expect.any(Array));
    expect((await account.rotateWebhookSecret()).secret).toMatch(/^whsec_/);
    expect(await thrownBy(account.findKey('../keys'))).toMatchObject({ code: 'NOT_FOUND' });
    expect(await thrownBy(client.account.show())).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('a refusal', () => {
  it('names the invalid field, the request id, and the documentation', async () => {
    const error = await thrownBy(client.create(anyRequest({ phone: '+1415' })));
    expect(error).toMatchObject({ name: 'InvalidRequestError', code: 'INVALID_PHONE', status: 422, field: 'phone' });
    expect(error).toMatchObject({ docUrl: `${harness.baseUrl}/docs/errors/INVALID_PHONE` });
    expect(error).toMatchObject({ requestId: expect.stringMatching(/^req_/) as string });
  });

  it('of the key, of the brand and of a session that is not there has its class', async () => {
    const foreign = clientOf(`${harness.demo.apiKey.slice(0, -1)}${harness.demo.apiKey.endsWith('0') ? '1' : '0'}`);
    expect(await thrownBy(foreign.list())).toMatchObject({ name: 'AuthenticationError', code: 'UNAUTHORIZED' });
    const brandId = 'brd_01HF7YAT000000000000000003';
    expect(await thrownBy(client.create(anyRequest({ brandId })))).toMatchObject({ code: 'INVALID_BRAND' });
    const nobodys = 'sess_01HF7YAT000000000000000003';
    expect(await client.find(nobodys)).toBeNull();
    expect(await thrownBy(client.cancel(nobodys))).toMatchObject({ name: 'NotFoundError', code: 'SESSION_NOT_FOUND' });
  });

  it('is known for every error code of the service', async () => {
    const page = await harness.call('/docs/errors', { key: null });
    const codes = [...page.text.matchAll(/href="\/docs\/errors\/([A-Z_]+)/g)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(20);
    for (const code of codes) {
      const text = JSON.stringify({ error: { code, message: 'No.' } });
      const refusing: FetchFunction = () =>
        Promise.resolve({
          status: 400,
          headers: new Headers({ 'retry-after': '60' }),
          text: () => Promise.resolve(text),
        });
      const error = await thrownBy(
        new CountersignClient({
          baseUrl: harness.baseUrl,
          apiKey: harness.demo.apiKey,
          fetch: refusing,
          maxRetries: 0,
        }).list(),
      );
      expect(error).toBeInstanceOf(ApiError);
      expect([code, error instanceof ApiError && error.constructor !== ApiError]).toEqual([code, true]);
    }
  });

  it('is a missing answer when the certificate is untrusted', async () => {
    const error = await thrownBy(clientOf(harness.demo.apiKey, (url, request) => fetch(url, request)).list());
    expect(error).toBeInstanceOf(ConnectionError);
  });
});

describe('verifyWebhook', () => {
  const opened: Receiver[] = [];
  afterAll(() => Promise.all(opened.map((receiver) => receiver.close())));

  it('accepts the webhooks of the service, as the standard’s own library does', async () => {
    const receiver = await startReceiver();
    opened.push(receiver);
    const { id } = await client.create(anyRequest({ webhookUrl: receiver.url, metadata: { orderId: '8' } }));
    await harness.approve(id);
    await until('the webhook came', 20_000, () => receiver.received.length > 0);
    const [webhook] = receiver.received;
    if (webhook === undefined) throw new Error('unreachable');
    const { headers, body } = webhook;
    const event = await verifyWebhook(body, headers, harness.demo.webhookSecret);
    expect(event).toMatchObject({ type: 'verification.completed', id: headers['webhook-id'] });
    expect(event.data).toEqual(await client.find(id));
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(new Webhook(harness.demo.webhookSecret).verify(body, plain)).toEqual(JSON.parse(body));
    const forged = body.replace('"orderId":"8"', '"orderId":"9"');
    expect(await thrownBy(verifyWebhook(forged, headers, harness.demo.webhookSecret))).toMatchObject({
      reason: 'bad_signature',
    });
  });

  it('accepts a test while the secret is rotated, and the delivery has its result', async () => {
    const receiver = await startReceiver();
    opened.push(receiver);
    const { secret, previousValidUntil } = await client.rotateWebhookSecret();
    expect(Date.parse(previousValidUntil)).toBeGreaterThan(Date.now());
    const { id, eventId } = await client.testWebhook(receiver.url);
    await until('the test came', 20_000, () => receiver.received.length > 0);
    const [webhook] = receiver.received;
    const event = await verifyWebhook(webhook?.body ?? '', webhook?.headers ?? {}, [
      secret,
      harness.demo.webhookSecret,
    ]);
    expect(event).toMatchObject({ id: eventId, type: 'webhook.test', data: { accountId: harness.demo.accountId } });
    await until('it is known', 20_000, async () => (await client.findDelivery(id)).status === 'succeeded');
    expect((await client.retryDelivery(id)).id).toBe(id);
    await until('it came again', 20_000, () => receiver.received.length > 1);
    expect((await client.listDeliveries({ limit: 1 })).data.map((delivery) => delivery.id)).toEqual([id]);
  });
});
