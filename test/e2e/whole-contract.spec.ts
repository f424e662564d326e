import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../config/stack/postgres.mjs';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { databaseEvidence, type Evidence, logEvidence, placesOf, redisEvidence } from '../support/evidence.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Answer, freePorts, Launcher, type Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const READY_MS = 100_000;
/** A message arrives within a second; a loaded machine gets more. */
const SOON_MS = 30_000;
const CHALLENGE = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';

const PHONES = {
  code: '+14155552701',
  wrong: '+14155552702',
  mo: '+14155552703',
  undelivered: '+14155552704',
} as const;

/**
 * Columns that may hold a phone number: of requests, of messages on the wire, of results for the caller, and of limits
 * of cards per phone.
 */
const PHONE_PLACES = new Set([
  'sessions.phone',
  'sessions.metadata',
  'messages.source',
  'outbound_messages.destination',
  'cards.phone',
  'card_events.phone',
  'card_phones.phone',
  'card_recipients.phone',
]);

const QUEUES = [
  { queues: 'PostgreSQL', redis: false, missing: false },
  { queues: 'Redis', redis: true, missing: findRedis() === undefined },
];

for (const { queues, redis: onRedis, missing } of QUEUES) {
  describe.skipIf(missing)(`the whole contract on npm start, queues on ${queues}`, () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-e2e-'));
    const dataDir = path.join(folder, 'data');
    const secrets = new Map<string, string>();
    let stores: { databaseUrl: string; ownerUrl: string; redisUrl: string; stop(): Promise<void> };
    let stack: Stack;
    let receiver: Receiver;

    beforeAll(async () => {
      const log = (): undefined => undefined;
      const postgres = await startPostgres({ dataDir: folder, log });
      const redis = onRedis ? await startRedis({ dataDir: folder, log }) : null;
      stores = {
        databaseUrl: postgres.url,
        ownerUrl: postgres.ownerUrl,
        redisUrl: redis?.url ?? '',
        stop: async () => {
          await Promise.all([postgres.stop(), redis?.stop()]);
        },
      };
      receiver = await startReceiver();
      const environment = {
        DATABASE_URL: stores.databaseUrl,
        DATABASE_MIGRATION_URL: stores.ownerUrl,
        REDIS_URL: stores.redisUrl,
        LOG_LEVEL: 'debug',
      };
      const launcher = Launcher.start({ dataDir, ports: await freePorts(), environment, by: 'node' });
      stack = await launcher.ready(READY_MS);
      const { apiKey, testApiKey, adminKey, webhookSecret, smpp } = stack.quickstart;
      for (const [name, secret] of Object.entries({ apiKey, testApiKey, adminKey, webhookSecret })) {
        secrets.set(name, secret);
      }
      secrets.set('SMPP password', smpp.password);
      const patched = await admin('PATCH', `/v1/admin/accounts/${stack.quickstart.accountId}`, {
        defaultWebhookUrl: receiver.url,
        webhookEvents: ['verification.otp_delivery'],
      });
      expect(patched.status).toBe(200);
    });

    afterAll(async () => {
      await stack.stop();
      await receiver.close();
      await stores.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const admin = (method: 'GET' | 'POST' | 'PATCH', pathname: string, body?: object): Promise<Answer> =>
      stack.api(method, pathname, body, { key: stack.quickstart.adminKey });

    async function create(phone: string, options: { key?: string; headers?: Record<string, string> } = {}) {
      const { accountId, brandId } = stack.quickstart;
      const body = { accountId, brandId, phone, clientChallenge: CHALLENGE, ttl: 300, metadata: { order: '42' } };
      const answer = await stack.api('POST', '/v1/verify', body, options);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const text = decodeURIComponent(String(answer.body['fallbackUri']).replace(/^.*body=/, ''));
      const token = /AUTH-[A-Z0-9]+-([0-9A-Z]{16})/.exec(text)?.[1];
      if (token !== undefined) secrets.set(`token of ${phone}`, token);
      return { id: String(answer.body['id']), text };
    }

    /** Requests a code and returns the one that arrived at the phone. */
    async function codeTo(phone: string, id: string, headers: Record<string, string> = {}): Promise<string> {
      const messages = async (): Promise<{ text: string }[]> =>
        (await stack.simulator('GET', `/_admin/sms?phone=${encodeURIComponent(phone)}`)).body['data'] as {
          text: string;
        }[];
      const before = (await messages()).length;
      const sent = await stack.api('POST', `/v1/verify/${id}/send-sms`, undefined, { headers });
      expect(sent, JSON.stringify(sent.body)).toMatchObject({ status: 200, body: { success: true, phone } });
      await until('the code is on the phone', SOON_MS, async () => (await messages()).length === before + 1);
      const text = (await messages()).at(-1)?.text ?? '';
      expect(text).toMatch(/^\d{6} is your Acme code\. Do not share it\.$/);
      const code = text.slice(0, 6);
      secrets.set(`code of ${phone}`, code);
      return code;
    }

    const deliveryStates = (id: string): string[] =>
      receiver.received
        .map(({ body }) => JSON.parse(body) as { type: string; data: { sessionId?: string; state?: string } })
        .filter(({ type, data }) => type === 'verification.otp_delivery' && data.sessionId === id)
        .map(({ data }) => data.state ?? '');

    it('verifies by a code: sent over SMPP, reported when it was delivered, accepted once', async () => {
      const { id } = await create(PHONES.code);
      const code = await codeTo(PHONES.code, id);
      const checked = await stack.api('POST', `/v1/verify/${id}/check`, { code });
      expect(checked).toMatchObject({ status: 200, body: { id, status: 'approved', phone: PHONES.code } });
      expect(checked.body['e2eeKeyShare']).toBe(checked.body['authEntropy']);
      secrets.set('authEntropy', String(checked.body['authEntropy']));
      const found = await stack.api('GET', `/v1/verify/${id}`);
      expect(found.body).toMatchObject({ status: 'approved', authEntropy: checked.body['authEntropy'] });
      await until('both state events have arrived', SOON_MS, () => deliveryStates(id).length >= 2);
      expect(deliveryStates(id).sort()).toEqual(['delivered', 'submitted']);
      expect((await stack.api('POST', `/v1/verify/${id}/check`, { code })).status).toBe(409);
    });

    it('counts wrong codes, and an SMS from the phone still approves after the fifth', async () => {
      const { id, text } = await create(PHONES.wrong);
      const code = await codeTo(PHONES.wrong, id);
      const wrong = code === '000000' ? '111111' : '000000';
      for (const attemptsRemaining of [4, 3, 2, 1, 0]) {
        const answer = await stack.api('POST', `/v1/verify/${id}/check`, { code: wrong });
        expect(answer).toMatchObject({ status: 422, body: { error: { code: 'INVALID_CODE', attemptsRemaining } } });
      }
      const refused = await stack.api('POST', `/v1/verify/${id}/check`, { code });
      expect(refused).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_ATTEMPTS' } } });
      const sms = { from: PHONES.wrong, to: stack.quickstart.inboundNumber, text };
      expect((await stack.simulator('POST', '/_admin/sms', sms)).body).toEqual({ commandStatus: 0 });
      expect((await stack.api('GET', `/v1/verify/${id}`)).body).toMatchObject({ status: 'approved' });
    });

    it('reports a code that did not arrive', async () => {
      await stack.simulator('PUT', '/_admin/smsc', { receipt: 'UNDELIV' });
      const { id } = await create(PHONES.undelivered);
      await codeTo(PHONES.undelivered, id);
      await until('both state events have arrived', SOON_MS, () => deliveryStates(id).length >= 2);
      expect(deliveryStates(id).sort()).toEqual(['submitted', 'undelivered']);
      await stack.simulator('PUT', '/_admin/smsc', { receipt: 'DELIVRD' });
    });

    it('answers a repeated request as it answered the first, and sends one SMS', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await create(PHONES.mo, { headers });
      const second = await create(PHONES.mo, { headers });
      expect(second.id).toBe(first.id);
      const sending = { 'idempotency-key': randomUUID() };
      await codeTo(PHONES.mo, first.id, sending);
      const again = await stack.api('POST', `/v1/verify/${first.id}/send-sms`, undefined, { headers: sending });
      expect(again.status).toBe(200);
      const sms = await stack.simulator('GET', `/_admin/sms?phone=${encodeURIComponent(PHONES.mo)}`);
      expect(sms.body['data']).toHaveLength(1);
    });

    it('acts a verification out for a test key, without a carrier', async () => {
      const key = { key: stack.quickstart.testApiKey };
      const approves = await create('+15005550001', key);
      const byCode = await create('+15005550006', key);
      expect((await stack.api('POST', `/v1/verify/${byCode.id}/send-sms`, undefined, key)).status).toBe(200);
      const checked = await stack.api('POST', `/v1/verify/${byCode.id}/check`, { code: '424242' }, key);
      expect(checked).toMatchObject({ status: 200, body: { status: 'approved' } });
      await until('the session is approved', SOON_MS, async () => {
        return (await stack.api('GET', `/v1/verify/${approves.id}`, undefined, key)).body['status'] === 'approved';
      });
      expect((await stack.simulator('GET', '/_admin/sms?phone=%2B15005550006')).body['data']).toEqual([]);
    });

    it('reports usage with its cost', async () => {
      const { body } = await stack.api('GET', '/v1/usage');
      expect(body).toMatchObject({
        verifications: { total: 4 },
        estimatedCostUsd: expect.stringMatching(/^\d+\.\d{2,}$/) as string,
      });
      const byTestKey = await stack.api('GET', '/v1/usage', undefined, { key: stack.quickstart.testApiKey });
      expect(byTestKey.body).toMatchObject({ verifications: { total: 2 }, estimatedCostUsd: '0.00' });
    });

    it('leaves no secret in clear in the database, in Redis, in the queues or in the logs', async () => {
      const kept: Evidence[] = [...(await databaseEvidence(stores.ownerUrl)), ...logEvidence(dataDir)];
      if (onRedis) kept.push(...(await redisEvidence(stores.redisUrl)));
      kept.push({ place: 'launcher', text: stack.launcher.output });
      expect(kept.length).toBeGreaterThan(200);
      // The search finds the numbers in their columns, and a planted code.
      const planted = { place: 'planted', text: '{"text":"481516 is your code"}' };
      expect(placesOf('481516', [planted])).toEqual(['planted']);
      expect(placesOf(PHONES.code, kept)).toContain('sessions.phone');
      for (const [name, secret] of secrets) expect(placesOf(secret, kept), name).toEqual([]);
      for (const phone of Object.values(PHONES)) {
        const places = placesOf(phone.slice(1), kept).filter((place) => !PHONE_PLACES.has(place));
        expect(places, phone).toEqual([]);
      }
    });
  });
}
