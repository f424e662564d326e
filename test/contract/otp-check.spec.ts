import { parseId } from '@countersign/ids';
import { authEntropy } from '@countersign/session/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlaneHarness, ENTROPY_KEY, PHONE } from '../support/control-plane-harness.js';
import { messageOf, OtpHarness, retryAfter, errorOf } from '../support/otp-harness.js';
import { startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const BRITISH = '+447911123456';

let home: OtpHarness;
let harness: ControlPlaneHarness;

beforeAll(async () => {
  home = await OtpHarness.open();
  harness = home.harness;
});
afterAll(() => home.close());
beforeEach(() => home.forget());

describe('POST /v1/verify/{id}/check', () => {
  it('approves with the right code, with 200 and id, status, phone, authEntropy and e2eeKeyShare', async () => {
    const { id, code } = await home.withCode();
    const answer = await home.check(id, code);
    const { accountId, brandId } = harness.demo;
    const entropy = authEntropy(new Map([[1, ENTROPY_KEY]]), 1, { mode: 'live', phone: PHONE, accountId, brandId });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ id, status: 'approved', phone: PHONE, authEntropy: entropy, e2eeKeyShare: entropy });
    expect((await home.get(id)).json).toMatchObject({ status: 'approved', authEntropy: entropy });
  });

  it('sends verification.completed', async () => {
    const receiver = await startReceiver();
    const { id, code } = await home.withCode({ webhookUrl: receiver.url });
    await home.check(id, code);
    await until('the webhook arrives', 5_000, () => receiver.received.length > 0);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'verification.completed',
      data: { id },
    });
    await receiver.close();
  });

  it('any of the codes sent matches until the session expires', async () => {
    const { id, code } = await home.withCode();
    await home.letResend(id);
    await home.send(id);
    expect((await home.check(id, code)).status).toBe(200);
    const again = await home.withCode({ phone: BRITISH });
    await home.letResend(again.id);
    await home.send(again.id);
    const [, second = ''] = await home.codesOf(again.id);
    expect((await home.check(again.id, second)).status).toBe(200);
  });

  it.each([
    undefined,
    null,
    123456,
    '',
    '12345',
    '1234567',
    '12345a',
    ' 123456',
    '123456\n',
    '１２３４５６',
    ['123456'],
    {},
  ])('VALIDATION_ERROR: %j is not 6 digits, and costs no attempt', async (code) => {
    const { id, wrong } = await home.withCode();
    expect(errorOf(await home.check(id, code))).toEqual([422, 'VALIDATION_ERROR', 'code']);
    expect((await home.check(id, wrong)).json['error']).toMatchObject({ attemptsRemaining: 4 });
  });

  it('VALIDATION_ERROR: an unknown field; MALFORMED_REQUEST: no body', async () => {
    const id = await home.created();
    const answer = await harness.call(`/v1/verify/${id}/check`, { method: 'POST', body: { code: '000000', more: 1 } });
    expect(errorOf(answer)).toEqual([422, 'VALIDATION_ERROR', 'more']);
    expect(errorOf(await harness.call(`/v1/verify/${id}/check`, { method: 'POST' }))).toEqual([
      400,
      'MALFORMED_REQUEST',
      undefined,
    ]);
  });

  it('fields are judged before the session is looked for', async () => {
    expect(errorOf(await home.check('sess_00000000000000000000000000', 'x'))).toEqual([
      422,
      'VALIDATION_ERROR',
      'code',
    ]);
  });

  it('OTP_NOT_SENT: before any send-sms', async () => {
    expect(errorOf(await home.check(await home.created(), '000000'))).toEqual([409, 'OTP_NOT_SENT', undefined]);
  });

  it('INVALID_CODE: well-formed but wrong, with attemptsRemaining; then TOO_MANY_ATTEMPTS, for the right code too', async () => {
    const { id, code, wrong } = await home.withCode();
    for (const left of [4, 3, 2, 1, 0]) {
      const answer = await home.check(id, wrong);
      expect(errorOf(answer)).toEqual([422, 'INVALID_CODE', 'code']);
      expect(answer.json['error']).toMatchObject({ attemptsRemaining: left });
    }
    const answer = await home.check(id, code);
    expect(errorOf(answer)).toEqual([429, 'TOO_MANY_ATTEMPTS', undefined]);
    expect(retryAfter(answer)).toBeGreaterThan(60);
    expect(retryAfter(answer)).toBeLessThanOrEqual(90);
    expect((await home.get(id)).json).toMatchObject({ status: 'pending' });
  });

  it('a resend does not refill the attempts, and the SMS from the phone still approves', async () => {
    const { id, wrong } = await home.withCode();
    for (let times = 0; times < 4; times++) await home.check(id, wrong);
    await home.letResend(id);
    expect((await home.send(id)).status).toBe(200);
    const codes = await home.codesOf(id);
    const neither = ['000000', '000001', '000002'].find((code) => !codes.includes(code));
    expect((await home.check(id, neither)).json['error']).toMatchObject({ attemptsRemaining: 0 });
    expect((await home.check(id, neither)).code).toBe('TOO_MANY_ATTEMPTS');
    await harness.approve(id);
    expect((await home.get(id)).json).toMatchObject({ status: 'approved' });
  });

  it('only INVALID_CODE carries attemptsRemaining', async () => {
    expect((await home.check(await home.created(), '000000')).json['error']).not.toHaveProperty('attemptsRemaining');
  });

  it('SESSION_NOT_FOUND and SESSION_NOT_PENDING as for send-sms', async () => {
    const { id, code } = await home.withCode();
    const unknown = await home.check('sess_00000000000000000000000000', code);
    expect(errorOf(unknown)).toEqual([404, 'SESSION_NOT_FOUND', undefined]);
    expect((await home.check(id, code, home.foreign)).text).toBe(unknown.text);
    expect((await home.check(id, code)).status).toBe(200);
    const again = await home.check(id, code);
    expect([errorOf(again), messageOf(again)]).toEqual([
      [409, 'SESSION_NOT_PENDING', undefined],
      expect.stringContaining('approved'),
    ]);
    const late = await home.withCode({ phone: BRITISH });
    await home.age(late.id);
    expect(messageOf(await home.check(late.id, late.code))).toMatch(/^This session expired at /);
  });

  it('200 concurrent wrong codes: five are evaluated', async () => {
    const { id, wrong } = await home.withCode();
    const answers = await Promise.all(Array.from({ length: 200 }, () => home.check(id, wrong)));
    const codes = answers.map(({ code }) => code);
    expect(codes.filter((code) => code === 'INVALID_CODE')).toHaveLength(5);
    expect(codes.filter((code) => code === 'TOO_MANY_ATTEMPTS')).toHaveLength(195);
  });
});

describe('guessing over many phones', () => {
  const WRONG = 4;

  it('gives new sessions 2 attempts until the rate falls; existing ones keep theirs', async () => {
    const guessed = [];
    for (let at = 0; at < 50; at++) guessed.push(await home.withCode({ phone: `+1415555${String(1000 + at)}` }));
    const [existing] = guessed;
    for (const { id, wrong } of guessed) {
      for (let times = 0; times < WRONG; times++) expect((await home.check(id, wrong)).code).toBe('INVALID_CODE');
    }
    await until('the wrong codes are counted', 5_000, async () => (await attemptsOf({ phone: BRITISH })) === 2);
    const { id, code, wrong } = await home.withCode({ phone: BRITISH });
    expect((await home.check(id, wrong)).json['error']).toMatchObject({ attemptsRemaining: 1 });
    expect((await home.check(id, wrong)).json['error']).toMatchObject({ attemptsRemaining: 0 });
    expect((await home.check(id, code)).code).toBe('TOO_MANY_ATTEMPTS');
    expect((await home.check(existing?.id ?? '', existing?.wrong)).json['error']).toMatchObject({
      attemptsRemaining: 0,
    });
    await harness.database.query(`UPDATE otp_checks SET slot = slot - interval '62 minutes'`);
    await until('the rate falls', 5_000, async () => (await attemptsOf({ phone: BRITISH })) === 5);
  });

  it('is counted in the metrics by result, for live sessions only', async () => {
    const before = await counted();
    const { id, code, wrong } = await home.withCode();
    for (const tried of [wrong, wrong, code]) await home.check(id, tried);
    const test = await home.created({}, home.withTestKey);
    await home.send(test, home.withTestKey);
    await home.check(test, '424242', home.withTestKey);
    expect(await counted()).toEqual({ wrong: before.wrong + 2, approved: before.approved + 1 });
  });

  /** The limit of wrong codes of a session that is created now. */
  async function attemptsOf(changes: Readonly<Record<string, unknown>>): Promise<number> {
    const id = await home.created(changes);
    const [row] = await harness.database.query<{ limit: number }>(
      'SELECT otp_attempt_limit AS limit FROM sessions WHERE id = $1',
      [parseId('sess', id)],
    );
    return row?.limit ?? 0;
  }

  async function counted(): Promise<{ wrong: number; approved: number }> {
    const text = await (await fetch(`${harness.opsUrl}/metrics`)).text();
    const of = (result: string): number =>
      Number(new RegExp(`otp_checks_total\\{[^}]*result="${result}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0);
    return { wrong: of('wrong'), approved: of('approved') };
  }
});
