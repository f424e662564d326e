import { AccountStore } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { authEntropy } from '@countersign/session/tokens';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, ENTROPY_KEY, type Answer, type Call } from '../support/control-plane-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const WITHIN_MS = 30_000;
const EVENT_TYPES = [
  'verification.denied',
  'verification.expired',
  'verification.sender_mismatch',
  'verification.otp_delivery',
];

let harness: ControlPlaneHarness;
let receiver: Receiver;
let key: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  receiver = await startReceiver();
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  ({ key } = await accounts.createApiKey(harness.database, { accountId, kind: 'test', name: 'test' }));
  await harness.database.query('UPDATE accounts SET webhook_events = $1', [EVENT_TYPES]);
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const create = (phone: string, changes: Readonly<Record<string, unknown>> = {}, call: Call = {}): Promise<Answer> =>
  harness.create({ phone, webhookUrl: receiver.url, ...changes }, { key, ...call });
const get = (id: string): Promise<Answer> => harness.call(`/v1/verify/${id}`, { key });

async function made(phone: string, changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const answer = await create(phone, changes);
  expect(answer.json).toMatchObject({ status: 'pending', phone });
  return String(answer.json['id']);
}

async function ended(id: string): Promise<Answer['json']> {
  await until(`${id} ends`, WITHIN_MS, async () => (await get(id)).json['status'] !== 'pending');
  return (await get(id)).json;
}

/** Webhooks of a session, as `type` and `data`, once the given number has arrived. */
async function receivedWebhooks(id: string, count: number): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const all = () =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter(({ data }) => data['id'] === id || data['sessionId'] === id);
  await until(`${count} webhooks of ${id}`, WITHIN_MS, () => all().length >= count);
  return all();
}

async function messagesOf(id: string): Promise<object[]> {
  return harness.database.query('SELECT carrier, source, destination, fate FROM messages WHERE session_id = $1', [
    parseId('sess', id),
  ]);
}

describe('+15005550001', () => {
  it('sends its SMS after a second, which approves the session', async () => {
    const answer = await create('+15005550001');
    expect(answer.json).toMatchObject({ status: 'pending', channel: 'sms_fallback' });
    expect(answer.json['fallbackUri']).toContain(`sms:${harness.demo.inboundNumber}?body=AUTH-ACME-`);
    const id = String(answer.json['id']);
    const session = await ended(id);
    const { accountId, brandId } = harness.demo;
    expect(session).toMatchObject({
      status: 'approved',
      channel: 'sms_fallback',
      authEntropy: authEntropy(new Map([[1, ENTROPY_KEY]]), 1, {
        ...{ mode: 'test', phone: '+15005550001', accountId, brandId },
      }),
    });
    expect(session['latencyMs']).toBeGreaterThanOrEqual(1_000);
    expect(await receivedWebhooks(id, 1)).toEqual([
      expect.objectContaining({ type: 'verification.completed', data: expect.objectContaining(session) as object }),
    ]);
  });

  it('sends an SMS that is stored like any other', async () => {
    const id = await made('+15005550001');
    await ended(id);
    expect(await messagesOf(id)).toEqual([
      { carrier: 'test', source: '15005550001', destination: harness.demo.inboundNumber.slice(1), fate: 'matched' },
    ]);
  });

  it('sends it too when the control plane that created the session has ended', async () => {
    const id = await made('+15005550001');
    await harness.stop();
    await harness.start();
    expect(await ended(id)).toMatchObject({ status: 'approved' });
    expect(await messagesOf(id)).toHaveLength(1);
  });

  it('approves every one of many sessions, of two control planes at once', async () => {
    const stop = await harness.beside();
    const ids = await Promise.all(Array.from({ length: 60 }, () => made('+15005550001')));
    for (const id of ids) {
      expect(await ended(id)).toMatchObject({ status: 'approved' });
      expect(await messagesOf(id)).toHaveLength(1);
    }
    await stop();
  });
});

describe('+15005550002 and …0003', () => {
  it.each([
    ['+15005550002', 'approved', 'verification.completed'],
    ['+15005550003', 'denied', 'verification.denied'],
  ])('%s has a card, and it is %s after a second', async (phone, status, type) => {
    const answer = await create(phone);
    expect(answer.json).toMatchObject({ status: 'pending', channel: 'rcs', fallbackUri: null });
    const id = String(answer.json['id']);
    expect(await ended(id)).toMatchObject({ status, channel: 'rcs', fallbackUri: null });
    expect((await receivedWebhooks(id, 1)).map((event) => event.type)).toEqual([type]);
  });

  it('has none where the caller forces SMS, and then never answers', async () => {
    const id = await made('+15005550002', { channel: 'sms_fallback' });
    await ended(await made('+15005550002'));
    expect((await get(id)).json).toMatchObject({ status: 'pending', channel: 'sms_fallback' });
  });
});

describe('+15005550004', () => {
  it('never answers: its session stays pending, and expires', async () => {
    const id = await made('+15005550004', { clientChallenge: '04'.repeat(32) });
    await ended(await made('+15005550001'));
    expect((await get(id)).json).toMatchObject({ status: 'pending' });
    await harness.database.query(
      `UPDATE sessions SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
       WHERE client_challenge = $1`,
      ['04'.repeat(32)],
    );
    expect(await get(id)).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect((await receivedWebhooks(id, 1)).map(({ type }) => type)).toEqual(['verification.expired']);
  });
});

describe('+15005550005', () => {
  it('has its SMS sent from another phone after a second: one event, and still pending', async () => {
    const id = await made('+15005550005');
    const { accountId, brandId } = harness.demo;
    expect(await receivedWebhooks(id, 1)).toEqual([
      expect.objectContaining({
        type: 'verification.sender_mismatch',
        data: { sessionId: id, accountId, brandId },
      }),
    ]);
    await ended(await made('+15005550001'));
    expect((await get(id)).json).toMatchObject({ status: 'pending' });
    expect(await messagesOf(id)).toEqual([expect.objectContaining({ carrier: 'test', fate: 'wrong_sender' })]);
  });
});

describe('codes of a test key', () => {
  const send = (id: string): Promise<Answer> => harness.call(`/v1/verify/${id}/send-sms`, { method: 'POST', key });
  const check = (id: string, code: string): Promise<Answer> =>
    harness.call(`/v1/verify/${id}/check`, { method: 'POST', key, body: { code } });

  it.each([
    ['+15005550006', 'delivered'],
    ['+15005550007', 'undelivered'],
    ['+447911123456', 'delivered'],
  ])('%s: are submitted at once and %s a second later', async (phone, state) => {
    const id = await made(phone);
    const answer = await send(id);
    expect(answer).toMatchObject({ status: 200, json: { success: true, phone } });
    const events = await receivedWebhooks(id, 2);
    expect(events.map(({ type }) => type)).toEqual(['verification.otp_delivery', 'verification.otp_delivery']);
    expect(new Set(events.map(({ data }) => data['state']))).toEqual(new Set(['submitted', state]));
    const [messageId] = new Set(events.map(({ data }) => data['messageId']));
    expect(messageId).toMatch(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/);
    const final = events.find(({ data }) => data['state'] === state);
    expect(final?.data).toEqual({
      sessionId: id,
      messageId,
      state,
      ...(state === 'undelivered' ? { networkError: 'UNDELIV' } : {}),
    });
  });

  it.each(['+15005550006', '+15005550007', '+15005550004', '+447911123456'])('%s: are 424242', async (phone) => {
    const id = await made(phone);
    await send(id);
    expect(await check(id, '424241')).toMatchObject({ status: 422, code: 'INVALID_CODE', field: 'code' });
    const { accountId, brandId } = harness.demo;
    const entropy = authEntropy(new Map([[1, ENTROPY_KEY]]), 1, { mode: 'test', phone, accountId, brandId });
    expect(await check(id, '424242')).toMatchObject({
      status: 200,
      json: { id, status: 'approved', phone, authEntropy: entropy, e2eeKeyShare: entropy, test: true },
    });
    expect((await get(id)).json).toMatchObject({ status: 'approved', authEntropy: entropy });
  });

  it('are not sent to +15005550008', async () => {
    const id = await made('+15005550008');
    expect(await send(id)).toMatchObject({ status: 403, code: 'DESTINATION_BLOCKED', field: 'phone' });
    expect(await check(id, '424242')).toMatchObject({ status: 409, code: 'OTP_NOT_SENT' });
    expect((await get(id)).json).toMatchObject({ status: 'pending' });
  });

  it('have no caps per phone, and keep the limits of a session', async () => {
    for (let sends = 0; sends < 12; sends++) expect((await send(await made('+15005550006'))).status).toBe(200);
    const id = await made('+15005550006');
    expect((await send(id)).status).toBe(200);
    const answer = await send(id);
    expect(answer).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it('are not sent in a session of a live key', async () => {
    const id = String((await harness.create()).json['id']);
    expect(await send(id)).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    const rows = await harness.database.query('SELECT id FROM outbound_messages WHERE session_id = $1', [
      parseId('sess', id),
    ]);
    expect(rows).toEqual([]);
  });

  it('never reach a carrier, and cost nothing', async () => {
    const id = await made('+15005550006');
    await send(id);
    await receivedWebhooks(id, 2);
    expect(
      await harness.database.query(
        `SELECT state, attempts, bind_id, text_sealed IS NULL AS erased, cost_usd::float8 AS cost
         FROM outbound_messages WHERE session_id = $1`,
        [parseId('sess', id)],
      ),
    ).toEqual([{ state: 'delivered', attempts: 0, bind_id: null, erased: true, cost: 0 }]);
  });
});

describe('+15005550009', () => {
  it('is INVALID_PHONE', async () => {
    const before = await harness.countSessions();
    expect(await create('+15005550009')).toMatchObject({ status: 422, code: 'INVALID_PHONE', field: 'phone' });
    expect(await harness.countSessions()).toBe(before);
  });
});

describe('any other number', () => {
  it('stays pending, its session real in everything else', async () => {
    const answer = await create('+447911123456');
    expect(answer.json).toMatchObject({ status: 'pending', channel: 'sms_fallback' });
    const id = String(answer.json['id']);
    await ended(await made('+15005550001'));
    expect((await get(id)).json).toEqual(answer.json);
    expect((await harness.call(`/v1/verify/${id}`, { method: 'DELETE', key })).status).toBe(204);
  });

  it('must still be a possible number', async () => {
    expect(await create('+15555555555')).toMatchObject({ status: 422, code: 'INVALID_PHONE', field: 'phone' });
  });
});

describe('a live key', () => {
  it.each(['+15005550001', '+15005550002', '+15005550009'])('cannot verify %s', async (phone) => {
    const before = await harness.countSessions();
    const answer = await create(phone, {}, { key: harness.demo.apiKey });
    expect(answer).toMatchObject({ status: 422, code: 'INVALID_PHONE', field: 'phone' });
    expect(await harness.countSessions()).toBe(before);
  });
});
