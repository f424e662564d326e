import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { type Delivery, WebhookCalls } from '../support/webhook-calls.js';

const SECRET_OF_URL = 'token=abc123';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let viewer: AdminCalls;
let receiver: Receiver;
let delivery: Delivery & { readonly sessionId: string };

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  viewer = await admin.colleague('viewer');
  receiver = await startReceiver();
  receiver.answerWith(503);
  const webhookUrl = `${receiver.url}?${SECRET_OF_URL}`;
  const calls = new WebhookCalls(harness);
  delivery = await calls.attemptedDelivery({ webhookUrl, metadata: { order: 'A-17' } });
  // Its schedule goes on after these tests.
  await harness.database.query(`UPDATE deliveries SET next_attempt_at = now() + interval '1 hour' WHERE id = $1`, [
    parseId('dlv', delivery.id),
  ]);
});
afterAll(async () => {
  await receiver.close();
  await harness.close();
});

describe('webhook deliveries of all accounts', () => {
  it('are listed with their last attempt and without their bodies, by status, session, account and mode', async () => {
    const listed = dataOf(await admin.get('deliveries?limit=5'));
    const [first] = listed.filter(({ id }) => id === delivery.id);
    expect(first).toMatchObject({
      eventId: delivery.eventId,
      accountId: harness.demo.accountId,
      test: false,
      type: 'verification.completed',
      sessionId: delivery.sessionId,
      url: delivery.url,
      status: 'pending',
      attemptsMade: 1,
      lastAttempt: { status: 503 },
    });
    expect(first).not.toHaveProperty('body');
    const idsOf = async (query: string): Promise<unknown[]> =>
      dataOf(await admin.get(`deliveries?${query}`)).map(({ id }) => id);
    expect(await idsOf(`status=pending&sessionId=${delivery.sessionId}`)).toEqual([delivery.id]);
    expect(await idsOf(`status=succeeded&sessionId=${delivery.sessionId}`)).toEqual([]);
    expect(await idsOf(`accountId=${harness.demo.accountId}&test=false`)).toEqual([delivery.id]);
    expect(await idsOf('test=true')).toEqual([]);
    expect((await admin.get('deliveries?status=late')).code).toBe('VALIDATION_ERROR');
  });

  it('are shown with their attempts and their redacted body, which the audit log records', async () => {
    const answer = await admin.get(`deliveries/${delivery.id}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ attempts: [{ status: 503 }] });
    const { body } = answer.json as { readonly body: { readonly data: Readonly<Record<string, unknown>> } };
    expect(body.data).toMatchObject({ phone: PHONE, metadata: { order: 'A-17' } });
    expect([body.data['authEntropy'], body.data['fallbackUri']]).toEqual(['[redacted]', '[redacted]']);
    const notes = await admin.notes(delivery.id);
    expect(notes.map(({ action, resource }) => `${action} ${resource}`)).toContain('read deliveries');
  });

  it('are shown to a viewer without people’s data and tokens, and without an entry', async () => {
    const before = (await admin.notes(delivery.id)).length;
    const { text } = await viewer.get(`deliveries/${delivery.id}`);
    expect(text).not.toContain(PHONE);
    expect(text).not.toContain('A-17');
    expect(text).not.toContain('abc123');
    expect((await viewer.get('deliveries')).text).not.toContain('abc123');
    expect((await admin.notes(delivery.id)).length).toBe(before);
  });

  it('are sent again by an operator: the same id and bytes, with an entry', async () => {
    const operator = await admin.colleague('operator', 'night shift');
    const answer = await operator.post(`deliveries/${delivery.id}/retry`);
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ id: delivery.id, status: 'pending' });
    await until('it has succeeded', 20_000, async () => {
      return (await admin.get(`deliveries/${delivery.id}`)).json['status'] === 'succeeded';
    });
    const bodies = new Set(receiver.received.map(({ body }) => body));
    expect([receiver.received.length, bodies.size]).toEqual([2, 1]);
    const retry = (await admin.notes(delivery.id)).find(({ action }) => action === 'retry');
    expect(retry).toMatchObject({ actor: 'night shift', resource: 'deliveries' });
    expect(JSON.stringify(retry)).not.toContain(PHONE);
  });

  it('wait after too many attempts within the hour', async () => {
    const attempts = Array.from({ length: 30 }, () => ({ at: new Date().toISOString(), status: 500, latencyMs: 1 }));
    await harness.database.query(
      `UPDATE deliveries SET attempts = $2::jsonb, status = 'failed', next_attempt_at = NULL, retry_asked = false
       WHERE id = $1`,
      [parseId('dlv', delivery.id), JSON.stringify(attempts)],
    );
    const answer = await admin.post(`deliveries/${delivery.id}/retry`);
    expect([answer.status, answer.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('are 404 when unknown', async () => {
    expect((await admin.get('deliveries/dlv_01HF7YAT000000000000000009')).code).toBe('NOT_FOUND');
    expect((await admin.post('deliveries/dlv_01HF7YAT000000000000000009/retry')).code).toBe('NOT_FOUND');
  });
});

describe('budgets of accounts', () => {
  const budget = async (): Promise<Readonly<Record<string, unknown>> | undefined> =>
    dataOf(await viewer.get('destinations/budgets')).find(({ id }) => id === harness.demo.accountId);

  it('tell the codes, the spend and the unused codes of an account', async () => {
    await admin.patch(`accounts/${harness.demo.accountId}`, { otpUnconvertedFloor: 50 });
    // Four for the phone that approved above.
    expect(await budget()).toMatchObject({
      today: { sends: 0, unconverted: 0, allowed: 64 },
      lastHour: { sends: 0, unconverted: 0, allowed: 54 },
    });
    await admin.post('prices', { channel: 'sms_otp', country: '*', usd: '0.05' });
    await admin.patch(`accounts/${harness.demo.accountId}`, { otpDailySpendCapUsd: '10', otpDailyMessageCap: 7 });
    const hosts = [{ host: '127.0.0.1', port: 1 }];
    const bind = await admin.post('binds', {
      name: 'out',
      carrier: 'out',
      hosts,
      systemId: 'out',
      password: 'secret08',
    });
    await admin.post('routes', { prefix: '+', bindId: bind.json['id'] });
    const send = `/v1/verify/${String((await harness.create()).json['id'])}/send-sms`;
    // A copy of the routes is used for up to 3 s.
    await expect.poll(async () => (await harness.call(send, { method: 'POST' })).status, { interval: 250 }).toBe(200);
    expect(await budget()).toMatchObject({
      today: { sends: 1, unconverted: 1, allowed: 64 },
      lastHour: { sends: 1, unconverted: 1, allowed: 54 },
      dailyMessageCap: 7,
      spentTodayUsd: '0.05',
      dailySpendCapUsd: '10.00',
    });
  });
});
