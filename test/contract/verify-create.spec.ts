import { AccountStore } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let accounts: AccountStore;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
});
afterAll(() => harness.close());

/** Another account with a brand and a key of its own. */
async function stranger(slug: string): Promise<{ accountId: string; brandId: string; brandUuid: string; key: string }> {
  return harness.database.transaction(async (tx) => {
    const { account } = await accounts.createAccount(tx, { name: slug });
    const brand = await accounts.createBrand(tx, {
      accountId: account.id,
      name: slug,
      slug,
      instruction: 'Send this message.',
      entropyKeyVersion: 1,
    });
    const { key } = await accounts.createApiKey(tx, { accountId: account.id, kind: 'live', name: 'k' });
    return { accountId: renderId('acct', account.id), brandId: renderId('brd', brand.id), brandUuid: brand.id, key };
  });
}

describe('POST /v1/verify', () => {
  it('answers 200 with the Session of the specification', async () => {
    const answer = await harness.create({ metadata: { orderId: '7' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { accountId, brandId, inboundNumber } = harness.demo;
    const { id, fallbackUri, createdAt, expiresAt, ...rest } = answer.json;
    expect(rest).toEqual({
      status: 'pending',
      channel: 'sms_fallback',
      phone: PHONE,
      accountId,
      brandId,
      brandSlug: 'ACME',
      clientChallenge: 'ab'.repeat(32),
      latencyMs: null,
      approvedAt: null,
      metadata: { orderId: '7' },
    });
    expect(id).toMatch(/^sess_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(fallbackUri).toMatch(
      new RegExp(
        `^sms:\\${inboundNumber}\\?body=AUTH-ACME-[0-9A-HJKMNP-TV-Z]{16}%0ASend%20this%20message%20to%20sign%20in%20to%20Acme\\.$`,
      ),
    );
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(String(expiresAt)) - Date.parse(String(createdAt))).toBe(90_000);
  });

  it.each([30, 300])('lives for a ttl of %d seconds', async (ttl) => {
    const { json } = await harness.create({ ttl });
    expect(Date.parse(String(json['expiresAt'])) - Date.parse(String(json['createdAt']))).toBe(ttl * 1000);
  });

  it.each(['rcs', 'sms_fallback', undefined])('falls back to SMS for the channel %s', async (channel) => {
    expect((await harness.create({ channel })).json).toMatchObject({ channel: 'sms_fallback', status: 'pending' });
  });

  it('takes every optional field', async () => {
    const answer = await harness.create({
      webhookUrl: 'https://example.com/hook?a=b',
      ttl: 60,
      channel: 'sms_fallback',
      allowSmsOtp: false,
      metadata: {},
    });
    expect(answer.status).toBe(200);
  });

  it('echoes metadata verbatim: order, integer-like and __proto__ keys, any character', async () => {
    const metadata =
      '{"b":"1","10":"x","2":"\\u00e9\\ud83d\\ude00","__proto__":"\\n\\u0000","constructor":"","a b":"\\""}';
    const sent = JSON.stringify(harness.createBody({ metadata: 0 })).replace('"metadata":0', `"metadata":${metadata}`);
    const answer = await harness.create({}, { body: sent });
    expect(answer.status).toBe(200);
    const expected = '"metadata":{"b":"1","10":"x","2":"é😀","__proto__":"\\n\\u0000","constructor":"","a b":"\\""}}';
    expect(answer.text.endsWith(expected)).toBe(true);
    const again = await harness.call(`/v1/verify/${String(answer.json['id'])}`);
    expect(again.text.endsWith(expected)).toBe(true);
  });

  it('takes 16 keys of 64 characters with 512 characters each, however they are escaped', async () => {
    const value = '\\u65e5'.repeat(512);
    const metadata = Array.from({ length: 16 }, (_, at) => `"${'k'.repeat(62)}${at + 10}":"${value}"`).join(',');
    const sent = JSON.stringify(harness.createBody({ metadata: 0 })).replace(
      '"metadata":0',
      `"metadata":{${metadata}}`,
    );
    expect((await harness.create({}, { body: sent })).status).toBe(200);
  });

  it('takes a clientChallenge in either case and echoes it as given', async () => {
    const clientChallenge = 'aB'.repeat(32);
    expect((await harness.create({ clientChallenge })).json).toMatchObject({ clientChallenge });
  });

  it.each(['+447911123456', '+4915112345678', '+919876543210', '+5511987654321'])('serves %s', async (phone) => {
    expect((await harness.create({ phone })).json).toMatchObject({ phone, status: 'pending' });
  });
});

describe('a create is refused', () => {
  it.each<[string, unknown, number, string, string]>([
    ['phone', undefined, 422, 'VALIDATION_ERROR', 'phone'],
    ['phone', 4155552671, 422, 'VALIDATION_ERROR', 'phone'],
    ['phone', null, 422, 'VALIDATION_ERROR', 'phone'],
    ['phone', '4155552671', 422, 'INVALID_PHONE', 'phone'],
    ['phone', '+1 415 555 2671', 422, 'INVALID_PHONE', 'phone'],
    ['phone', '+15555555555', 422, 'INVALID_PHONE', 'phone'],
    ['phone', '+999123456789', 422, 'INVALID_PHONE', 'phone'],
    ['phone', `+${'1'.repeat(16)}`, 422, 'INVALID_PHONE', 'phone'],
    ['accountId', undefined, 422, 'VALIDATION_ERROR', 'accountId'],
    ['accountId', 'acct_00000000000000000000000000', 403, 'FORBIDDEN', 'accountId'],
    ['accountId', '', 403, 'FORBIDDEN', 'accountId'],
    ['brandId', undefined, 422, 'VALIDATION_ERROR', 'brandId'],
    ['brandId', 'brd_00000000000000000000000000', 422, 'INVALID_BRAND', 'brandId'],
    ['brandId', 'nonsense', 422, 'INVALID_BRAND', 'brandId'],
    ['clientChallenge', undefined, 422, 'VALIDATION_ERROR', 'clientChallenge'],
    ['clientChallenge', 'x'.repeat(64), 422, 'VALIDATION_ERROR', 'clientChallenge'],
    ['clientChallenge', 'a'.repeat(65), 422, 'VALIDATION_ERROR', 'clientChallenge'],
    ['webhookUrl', 7, 422, 'VALIDATION_ERROR', 'webhookUrl'],
    ['webhookUrl', 'nonsense', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'ftp://example.com/', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'http://93.184.215.14/', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'https://user:pw@example.com/', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'https://example.com/#x', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'https://10.0.0.1/', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'https://[::ffff:10.0.0.1]/', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', 'https://0xa000001/', 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['webhookUrl', `https://example.com/${'a'.repeat(2030)}`, 422, 'INVALID_WEBHOOK_URL', 'webhookUrl'],
    ['ttl', 29, 422, 'VALIDATION_ERROR', 'ttl'],
    ['ttl', 301, 422, 'VALIDATION_ERROR', 'ttl'],
    ['ttl', 90.5, 422, 'VALIDATION_ERROR', 'ttl'],
    ['ttl', '90', 422, 'VALIDATION_ERROR', 'ttl'],
    ['ttl', null, 422, 'VALIDATION_ERROR', 'ttl'],
    ['channel', 'sms', 422, 'VALIDATION_ERROR', 'channel'],
    ['allowSmsOtp', 'yes', 422, 'VALIDATION_ERROR', 'allowSmsOtp'],
    ['metadata', 'x', 422, 'VALIDATION_ERROR', 'metadata'],
    ['metadata', [], 422, 'VALIDATION_ERROR', 'metadata'],
    ['metadata', { orderId: 7 }, 422, 'VALIDATION_ERROR', 'metadata.orderId'],
    ['metadata', { orderId: 'x'.repeat(513) }, 422, 'VALIDATION_ERROR', 'metadata.orderId'],
    [
      'metadata',
      Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, ''])),
      422,
      'VALIDATION_ERROR',
      'metadata',
    ],
    ['extra', 1, 422, 'VALIDATION_ERROR', 'extra'],
    ['toString', 1, 422, 'VALIDATION_ERROR', 'toString'],
  ])('with %s = %j', async (name, value, status, code, field) => {
    const before = await harness.countSessions();
    const answer = await harness.create({ [name]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([status, code, field]);
    const error = answer.json['error'] as Record<string, unknown>;
    expect(Object.keys(error)).toEqual(['code', 'message', 'field', 'docUrl']);
    expect(error['docUrl']).toBe(`${harness.baseUrl}/docs/errors/${code}`);
    expect(await harness.countSessions()).toBe(before);
  });

  it('in the order of the contract: JSON, fields, unknown fields, account, brand, inbound number', async () => {
    const wrong = { phone: '1', accountId: 'x', brandId: 'x', ttl: 1, extra: 1 };
    expect((await harness.create(wrong, { body: '{' })).code).toBe('MALFORMED_REQUEST');
    expect((await harness.create(wrong)).field).toBe('phone');
    expect((await harness.create({ ...wrong, phone: PHONE })).field).toBe('ttl');
    expect((await harness.create({ ...wrong, phone: PHONE, ttl: 60 })).field).toBe('extra');
    const known = { accountId: 'x', brandId: 'x' };
    expect((await harness.create(known)).code).toBe('FORBIDDEN');
    expect((await harness.create({ brandId: 'x' })).code).toBe('INVALID_BRAND');
  });

  it('with another account’s brand, and with its id, as if they did not exist', async () => {
    const other = await stranger('OTHER');
    expect((await harness.create({ brandId: other.brandId })).code).toBe('INVALID_BRAND');
    expect((await harness.create({ accountId: other.accountId })).code).toBe('FORBIDDEN');
    expect((await harness.create({}, { key: other.key })).code).toBe('FORBIDDEN');
    expect(
      (await harness.create({ accountId: other.accountId, brandId: other.brandId }, { key: other.key })).status,
    ).toBe(200);
  });

  it('with a disabled brand', async () => {
    const other = await stranger('ASLEEP');
    await harness.database.query('UPDATE brands SET active = false WHERE id = $1', [other.brandUuid]);
    const answer = await harness.create({ accountId: other.accountId, brandId: other.brandId }, { key: other.key });
    expect([answer.status, answer.code]).toEqual([422, 'INVALID_BRAND']);
  });

  it('where no inbound number serves the country, once every cache has dropped the number', async () => {
    await harness.database.query(`UPDATE inbound_numbers SET countries = '{DE}'`);
    try {
      const refusal = async () => (await harness.create()).code;
      await expect.poll(refusal, { timeout: 5_000 }).toBe('INVALID_PHONE');
      expect((await harness.create({ phone: '+4915112345678' })).status).toBe(200);
    } finally {
      await harness.database.query(`UPDATE inbound_numbers SET countries = '{*}'`);
    }
    expect((await harness.create()).status).toBe(200);
  });
});
