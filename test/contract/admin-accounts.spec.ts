import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  await admin.post('prices', { channel: 'sms_otp', country: '*', usd: '0.10' });
});
afterAll(() => harness.close());

const created = async (changes: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  String((await admin.post('accounts', { name: 'Beta', ...changes })).json['id']);

describe('an account', () => {
  it('needs a name and has a default for everything else; its webhook secrets are shown once', async () => {
    const answer = await admin.post('accounts', { name: 'Beta Ltd.' });
    expect(answer.status).toBe(201);
    const { id, webhookSecret, testWebhookSecret, ...rest } = answer.json;
    expect(id).toMatch(/^acct_[0-9A-HJKMNP-TV-Z]{26}$/);
    for (const secret of [webhookSecret, testWebhookSecret]) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(testWebhookSecret).not.toBe(webhookSecret);
    expect(rest).toEqual({
      name: 'Beta Ltd.',
      defaultWebhookUrl: null,
      testWebhookUrl: null,
      webhookEvents: [],
      otpCountries: ['*'],
      otpDailySpendCapUsd: null,
      otpDailyMessageCap: 1_000,
      otpUnconvertedFloor: 50,
      active: true,
    });
    expect((await admin.get(`accounts/${String(id)}`)).json).toEqual({ id, ...rest });
  });

  it('takes all of its fields, and returns them', async () => {
    const body = {
      name: 'Gamma',
      defaultWebhookUrl: 'https://gamma.example/hook',
      testWebhookUrl: 'https://staging.gamma.example/hook',
      webhookEvents: ['verification.denied', 'verification.otp_delivery'],
      otpCountries: ['US', 'GB'],
      otpDailySpendCapUsd: '250.5',
      otpDailyMessageCap: 0,
      otpUnconvertedFloor: 1_000_000_000,
      active: false,
    };
    const answer = await admin.post('accounts', body);
    expect(answer.json).toMatchObject({ ...body, otpDailySpendCapUsd: '250.50' });
  });

  it('changes only the fields of a PATCH; null removes an optional field', async () => {
    const id = await created({ defaultWebhookUrl: 'https://beta.example/', otpDailySpendCapUsd: 10 });
    const changed = await admin.patch(`accounts/${id}`, { otpDailySpendCapUsd: null, otpCountries: [] });
    expect(changed.status).toBe(200);
    expect(changed.json).toEqual({
      id,
      name: 'Beta',
      defaultWebhookUrl: 'https://beta.example/',
      testWebhookUrl: null,
      webhookEvents: [],
      otpCountries: [],
      otpDailySpendCapUsd: null,
      otpDailyMessageCap: 1_000,
      otpUnconvertedFloor: 50,
      active: true,
    });
    expect((await admin.patch(`accounts/${id}`, { defaultWebhookUrl: null })).json['defaultWebhookUrl']).toBeNull();
    expect((await admin.patch(`accounts/${id}`, {})).status).toBe(200);
  });

  it('has a spend cap only while there is a price of codes for every country, which then stays', async () => {
    const { data } = (await admin.get('prices')).json as { data: { id: string }[] };
    const priceId = data[0]?.id ?? '';
    const capped = await created({ otpDailySpendCapUsd: '5' });
    for (const answer of [
      await admin.delete(`prices/${priceId}`),
      await admin.patch(`prices/${priceId}`, { from: '2999-01-01T00:00:00Z' }),
    ]) {
      expect([answer.status, answer.code]).toEqual([409, 'CONFLICT']);
    }
    expect((await admin.patch(`prices/${priceId}`, { usd: '0.2' })).status).toBe(200);
    await harness.database.query('UPDATE accounts SET otp_daily_spend_cap_usd = NULL');
    expect((await admin.delete(`prices/${priceId}`)).status).toBe(204);
    // Neither the price of a country nor a future price.
    await admin.post('prices', { channel: 'sms_otp', country: 'US', usd: '0.10' });
    await admin.post('prices', { channel: 'sms_otp', country: '*', usd: '0.10', from: '2999-01-01T00:00:00Z' });
    for (const answer of [
      await admin.post('accounts', { name: 'B', otpDailySpendCapUsd: '5' }),
      await admin.patch(`accounts/${capped}`, { otpDailySpendCapUsd: 5 }),
    ]) {
      expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', 'otpDailySpendCapUsd']);
    }
    expect((await admin.post('prices', { channel: 'sms_otp', country: '*', usd: '0.10' })).status).toBe(201);
    expect((await admin.patch(`accounts/${capped}`, { otpDailySpendCapUsd: 5 })).status).toBe(200);
  });

  it.each([
    [0, '0.00'],
    ['0', '0.00'],
    [12.5, '12.50'],
    ['0.000001', '0.000001'],
    ['99999999.999999', '99999999.999999'],
  ])('takes the spend cap %j and answers %s', async (cap, shown) => {
    expect((await admin.post('accounts', { name: 'B', otpDailySpendCapUsd: cap })).json['otpDailySpendCapUsd']).toBe(
      shown,
    );
  });

  it.each<[string, unknown, string?]>([
    ['name', undefined],
    ['name', ''],
    ['name', '  '],
    ['name', 'two\nlines'],
    ['name', 'x'.repeat(101)],
    ['name', null],
    ['name', 5],
    ['defaultWebhookUrl', 'http://203.0.113.9/', 'INVALID_WEBHOOK_URL'],
    ['defaultWebhookUrl', 'https://10.0.0.1/', 'INVALID_WEBHOOK_URL'],
    ['defaultWebhookUrl', '', 'INVALID_WEBHOOK_URL'],
    ['defaultWebhookUrl', 5],
    ['webhookEvents', ['verification.finished']],
    ['webhookEvents', ['verification.denied', 'verification.denied']],
    ['webhookEvents', ['nothing']],
    ['webhookEvents', ['webhook.test']],
    ['webhookEvents', 'verification.denied'],
    ['webhookEvents', null],
    ['otpCountries', ['UK']],
    ['otpCountries', ['us']],
    ['otpCountries', ['US', 'US']],
    ['otpCountries', [5]],
    ['otpCountries', '*'],
    ['otpCountries', null],
    ['otpDailyMessageCap', -1],
    ['otpDailyMessageCap', 1.5],
    ['otpDailyMessageCap', '5'],
    ['otpDailyMessageCap', null],
    ['otpUnconvertedFloor', -1],
    ['otpUnconvertedFloor', 1_000_000_001],
    ['otpUnconvertedFloor', null],
    ['otpDailySpendCapUsd', -1],
    ['otpDailySpendCapUsd', '-1'],
    ['otpDailySpendCapUsd', '1e3'],
    ['otpDailySpendCapUsd', 1e21],
    ['otpDailySpendCapUsd', '0.0000001'],
    ['otpDailySpendCapUsd', ''],
    ['otpDailySpendCapUsd', true],
    ['active', 'true'],
    ['active', null],
    ['id', 'acct_00000000000000000000000000'],
    ['webhookSecret', 'whsec_x'],
  ])('with %s %j is refused, and nothing is made', async (field, value, code = 'VALIDATION_ERROR') => {
    const before = (await admin.get('accounts?limit=100')).text;
    const answer = await admin.post('accounts', { name: 'Beta', [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, code, field]);
    expect((await admin.get('accounts?limit=100')).text).toBe(before);
  });

  it('that is disabled has no valid keys within 5 s, and has them again when it is enabled', async () => {
    const id = await created();
    const key = String((await admin.post('keys', { accountId: id, name: 'k' })).json['key']);
    const status = async (): Promise<number> => (await harness.call('/v1/verify', { key })).status;
    expect(await status()).toBe(200);
    await admin.patch(`accounts/${id}`, { active: false });
    await expect.poll(status, { timeout: 5_000 }).toBe(401);
    await admin.patch(`accounts/${id}`, { active: true });
    expect(await status()).toBe(200);
  });

  it('is switched off, not deleted', async () => {
    const answer = await admin.delete(`accounts/${await created()}`);
    expect([answer.status, answer.code, answer.headers['allow']]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD, PATCH',
    ]);
  });

  it('has an audit entry of every change: who, what, before and after, and never its secret', async () => {
    const made = await admin.post('accounts', { name: 'Traced' });
    const { id, webhookSecret, testWebhookSecret, ...shown } = made.json;
    const renamed = await admin.patch(`accounts/${String(id)}`, { name: 'Renamed' });
    await admin.patch(`accounts/${String(id)}`, { name: 'Renamed' });
    await admin.patch(`accounts/${String(id)}`, { name: '' });
    expect(await admin.notes(id)).toEqual([
      {
        actor: 'root',
        action: 'create',
        resource: 'accounts',
        before: null,
        after: { id, ...shown },
        requestId: made.headers['x-request-id'],
      },
      {
        actor: 'root',
        action: 'update',
        resource: 'accounts',
        before: { id, ...shown },
        after: { id, ...shown, name: 'Renamed' },
        requestId: renamed.headers['x-request-id'],
      },
    ]);
    for (const secret of [webhookSecret, testWebhookSecret]) expect(await admin.log()).not.toContain(String(secret));
  });
});

describe('in production', () => {
  it('a new account sends codes to no country until countries are set', async () => {
    await harness.stop();
    await harness.start({ ...harness.environment, NODE_ENV: 'production' });
    expect((await admin.post('accounts', { name: 'Careful' })).json['otpCountries']).toEqual([]);
    const restricted = await admin.post('accounts', { name: 'Careful', otpCountries: ['US'] });
    expect(restricted.json['otpCountries']).toEqual(['US']);
    expect(dataOf(await admin.get('accounts'))[0]).toMatchObject({ name: 'Careful', otpCountries: ['US'] });
  });
});
