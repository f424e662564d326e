import { AccountStore } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { messageOf, OtpHarness, retryAfter, errorOf } from '../support/otp-harness.js';
import { until } from '../support/until.js';

const BRITISH = '+447911123456';
const BLOCKED = [403, 'DESTINATION_BLOCKED', 'phone'];

let home: OtpHarness;
let harness: ControlPlaneHarness;

beforeAll(async () => {
  home = await OtpHarness.open();
  harness = home.harness;
});
afterAll(() => home.close());
beforeEach(() => home.forget());

describe('POST /v1/verify/{id}/send-sms', () => {
  it('answers success, a message and the phone once the SMS is durably queued', async () => {
    const id = await home.created();
    const answer = await home.send(id);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ success: true, message: expect.any(String) as string, phone: PHONE });
    expect(await home.messagesOf(id)).toMatchObject([{ state: 'queued', test: false }]);
    expect((await home.get(id)).json).toMatchObject({ status: 'pending' });
  });

  it('sends "<code> is your <brand name> code. Do not share it.", from the inbound number where the brand has no sender', async () => {
    const { id } = await home.withCode();
    const [brand] = await harness.database.query<{ name: string }>('SELECT name FROM brands');
    const [message] = await home.messagesOf(id);
    expect(message?.text).toMatch(/^[0-9]{6} /);
    expect(message?.text.slice(6)).toBe(` is your ${brand?.name ?? ''} code. Do not share it.`);
    expect(message?.sender).toBe(harness.demo.inboundNumber);
  });

  it('adds the line for the brand’s site, and sends from the brand’s sender, as they were when the session was made', async () => {
    await harness.database.query(`UPDATE brands SET domain = 'acme.example', sender_id = 'Acme'`);
    await until('the brand is read anew', 5_000, async () => {
      const id = await home.created();
      const [row] = await harness.database.query('SELECT 1 FROM sessions WHERE id = $1 AND otp_sender = $2', [
        parseId('sess', id),
        'Acme',
      ]);
      return row !== undefined;
    });
    const id = await home.created();
    await harness.database.query(`UPDATE brands SET domain = NULL, sender_id = NULL`);
    expect((await home.send(id)).status).toBe(200);
    const [message] = await home.messagesOf(id);
    const code = message?.text.slice(0, 6) ?? '';
    expect(message?.text).toMatch(
      new RegExp(`^${code} is your .* code\\. Do not share it\\.\\n@acme\\.example #${code}$`),
    );
    expect(message?.sender).toBe('Acme');
  });

  it('works with none, an empty body or {}, with and without a Content-Type', async () => {
    for (const body of [undefined, '', '{}']) {
      await harness.database.query('DELETE FROM otp_counters');
      const id = await home.created();
      expect(
        (
          await home.send(id, {
            body,
            ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
          })
        ).status,
      ).toBe(200);
    }
  });

  it('refuses a body with fields', async () => {
    const id = await home.created();
    await home.expectRefused(() => home.send(id, { body: { phone: '+1' } }), [422, 'VALIDATION_ERROR', 'phone']);
  });

  it('needs a key with the scope otp', async () => {
    const id = await home.created();
    expect((await home.send(id, { key: null })).status).toBe(401);
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const { key } = await accounts.createApiKey(harness.database, {
      accountId: home.accountId,
      kind: 'live',
      name: 'v',
      scopes: ['verify'],
    });
    expect(errorOf(await home.send(id, { key }))).toEqual([403, 'FORBIDDEN', undefined]);
    expect(errorOf(await home.check(id, '000000', { key }))).toEqual([403, 'FORBIDDEN', undefined]);
  });

  it('SESSION_NOT_FOUND: unknown, another account’s, or expired', async () => {
    const id = await home.created();
    const unknown = await home.expectRefused(
      () => home.send('sess_00000000000000000000000000'),
      [404, 'SESSION_NOT_FOUND', undefined],
    );
    expect((await home.send('x')).text).toBe(unknown.text);
    expect((await home.send(id, home.foreign)).text).toBe(unknown.text);
    await home.age(id);
    const expired = await home.expectRefused(() => home.send(id), [404, 'SESSION_NOT_FOUND', undefined]);
    expect(messageOf(expired)).toMatch(/^This session expired at \d{4}-/);
  });

  it('SESSION_NOT_PENDING: approved, denied or cancelled; the message names the state', async () => {
    const approved = await home.created();
    await harness.approve(approved);
    const cancelled = await home.created();
    await harness.call(`/v1/verify/${cancelled}`, { method: 'DELETE' });
    for (const [id, state] of [
      [approved, 'approved'],
      [cancelled, 'cancelled'],
    ] as const) {
      expect(
        messageOf(await home.expectRefused(() => home.send(id), [409, 'SESSION_NOT_PENDING', undefined])),
      ).toContain(state);
    }
  });

  it('SMS_OTP_DISABLED: allowSmsOtp is false', async () => {
    const id = await home.created({ allowSmsOtp: false });
    await home.expectRefused(() => home.send(id), [403, 'SMS_OTP_DISABLED', undefined]);
    expect(errorOf(await home.check(id, '000000'))).toEqual([403, 'SMS_OTP_DISABLED', undefined]);
  });

  it('RATE_LIMITED: a code was sent less than 30 s ago; Retry-After says when', async () => {
    const { id } = await home.withCode();
    const answer = await home.expectRefused(() => home.send(id), [429, 'RATE_LIMITED', undefined]);
    expect(retryAfter(answer)).toBeGreaterThan(20);
    expect(retryAfter(answer)).toBeLessThanOrEqual(30);
    await home.letResend(id);
    expect((await home.send(id)).status).toBe(200);
  });

  it('SEND_LIMIT_REACHED: 3 sends in this session; Retry-After is the rest of its lifetime', async () => {
    const { id } = await home.withCode({ ttl: 300 });
    for (let more = 0; more < 2; more++) {
      await home.letResend(id);
      expect((await home.send(id)).status).toBe(200);
    }
    await home.letResend(id);
    const answer = await home.expectRefused(() => home.send(id), [429, 'SEND_LIMIT_REACHED', undefined]);
    expect(retryAfter(answer)).toBeGreaterThan(280);
    expect(retryAfter(answer)).toBeLessThanOrEqual(300);
  });

  it('SEND_LIMIT_REACHED: 5 per hour to one phone over all sessions', async () => {
    for (let sends = 0; sends < 5; sends++) expect((await home.send(await home.created())).status).toBe(200);
    const id = await home.created();
    const answer = await home.expectRefused(() => home.send(id), [429, 'SEND_LIMIT_REACHED', undefined]);
    expect(retryAfter(answer)).toBeGreaterThan(3_500);
    expect(retryAfter(answer)).toBeLessThanOrEqual(3_600);
    expect(await home.refusals()).toEqual([{ rule: 'phone_hourly', prefix: PHONE.slice(0, -4), refused: 1 }]);
    expect((await home.send(await home.created({ phone: BRITISH }))).status).toBe(200);
  });

  it('SEND_LIMIT_REACHED: 10 per day to one phone over all sessions', async () => {
    for (let sends = 0; sends < 10; sends++) {
      expect((await home.send(await home.created())).status).toBe(200);
      if (sends === 4)
        await harness.database.query(`UPDATE otp_counters SET ends_at = started_at WHERE scope LIKE '%phone-hour'`);
    }
    await harness.database.query(`UPDATE otp_counters SET ends_at = started_at WHERE scope LIKE '%phone-hour'`);
    const id = await home.created();
    const answer = await home.expectRefused(() => home.send(id), [429, 'SEND_LIMIT_REACHED', undefined]);
    expect(retryAfter(answer)).toBeGreaterThan(86_000);
    expect(await home.refusals()).toMatchObject([{ rule: 'phone_daily' }]);
  });

  it('SERVICE_UNAVAILABLE: no enabled route for the destination', async () => {
    await harness.database.query('UPDATE routes SET enabled = false');
    const id = await home.created();
    const answer = await home.expectRefused(() => home.send(id), [503, 'SERVICE_UNAVAILABLE', undefined]);
    expect(retryAfter(answer)).toBeGreaterThanOrEqual(1);
    await harness.database.query(`UPDATE routes SET enabled = true, prefix = '+44'`);
    expect(errorOf(await home.send(id))).toEqual([503, 'SERVICE_UNAVAILABLE', undefined]);
    expect((await home.send(await home.created({ phone: BRITISH }))).status).toBe(200);
    await harness.database.query(`UPDATE routes SET prefix = '+'`);
    expect((await home.send(id)).status).toBe(200);
  });
});

describe('a test key', () => {
  it('sends 424242 to any valid number, without guard, caps and route', async () => {
    await harness.database.query(`UPDATE accounts SET otp_countries = '{}'`);
    await harness.database.query('UPDATE routes SET enabled = false');
    const call = home.withTestKey;
    for (let sends = 0; sends < 7; sends++) {
      const id = await home.created({}, call);
      expect((await home.send(id, call)).json).toMatchObject({ success: true, phone: PHONE });
      expect((await home.check(id, '424242', call)).json).toMatchObject({ status: 'approved' });
    }
    expect(await home.refusals()).toEqual([]);
  });

  it('has the limits of a session all the same', async () => {
    const call = home.withTestKey;
    const id = await home.created({}, call);
    expect((await home.send(id, call)).status).toBe(200);
    expect((await home.send(id, call)).code).toBe('RATE_LIMITED');
  });

  it('+15005550008 is blocked', async () => {
    const call = home.withTestKey;
    const id = await home.created({ phone: '+15005550008' }, call);
    expect(errorOf(await home.send(id, call))).toEqual(BLOCKED);
    expect(await home.refusals()).toEqual([]);
  });
});
