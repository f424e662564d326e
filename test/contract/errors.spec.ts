import { AccountStore } from '@countersign/accounts/accounts';
import { newId, parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ErrorCode, ERRORS } from '../../apps/control-plane/src/http/errors.js';
import { AdminCalls } from '../support/admin-calls.js';
import { type Answer, type Call, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { asOwner } from '../support/database.js';
import { PhoneMembers } from '../support/phone-sign-in.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

const SESSION = '/v1/verify/sess_00000000000000000000000000';

const post = (target: string, call: Call = {}): Promise<Answer> =>
  harness.call(target, { method: 'POST', key: harness.demo.testApiKey, ...call });

/** The address of a new session of the test key, whose code is always 424242. */
async function opened(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { json } = await harness.create(changes, { key: harness.demo.testApiKey });
  return `/v1/verify/${String(json['id'])}`;
}

/** The same, with a code that was sent. */
async function withCode(): Promise<string> {
  const session = await opened();
  expect((await post(`${session}/send-sms`)).status).toBe(200);
  return session;
}

/** The address of a test session that was approved by its code. */
async function approved(): Promise<string> {
  const session = await withCode();
  expect((await post(`${session}/check`, { body: { code: '424242' } })).status).toBe(200);
  return session;
}

const wrongCode = (session: string): Promise<Answer> => post(`${session}/check`, { body: { code: '000000' } });

const under = (key: string, changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> =>
  harness.create(changes, { headers: { 'idempotency-key': key } });

/** A key of the demo account that may request its usage once a minute. */
async function slowKey(): Promise<string> {
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  const made = { accountId, kind: 'live', name: 'slow', limits: { usage: 1 } } as const;
  return (await accounts.createApiKey(harness.database, made)).key;
}

/** For every code of the catalogue a request that is refused with it. Exhaustive by type. */
const REQUESTS: Readonly<Record<ErrorCode, () => Promise<Answer>>> = {
  MALFORMED_REQUEST: () => harness.create({}, { body: '{' }),
  UNAUTHORIZED: () => harness.call(SESSION, { key: null }),
  FORBIDDEN: () => harness.create({ accountId: 'acct_00000000000000000000000000' }),
  CONFIRMATION_REQUIRED: async () => {
    const { browser } = await new PhoneMembers(harness).signedIn();
    return browser.call('v1/account/keys', { method: 'POST', body: { name: 'backend' } });
  },
  SMS_OTP_DISABLED: async () => post(`${await opened({ allowSmsOtp: false })}/send-sms`),
  DESTINATION_BLOCKED: async () => post(`${await opened({ phone: '+15005550008' })}/send-sms`),
  HTTPS_REQUIRED: async () => {
    const behindProxy = { TLS_MODE: 'proxy', TRUSTED_PROXIES: '10.0.0.0/8', PUBLIC_BASE_URL: harness.baseUrl };
    const { baseUrl, stop } = await harness.neighbour(behindProxy);
    return harness.call(SESSION, { baseUrl: baseUrl.replace('https:', 'http:') }).finally(stop);
  },
  SESSION_NOT_FOUND: () => harness.call(SESSION),
  NOT_FOUND: () => harness.call('/v1/nothing'),
  METHOD_NOT_ALLOWED: () => harness.call(SESSION, { method: 'PUT' }),
  SESSION_NOT_PENDING: async () => {
    const session = await opened();
    await harness.call(session, { method: 'DELETE', key: harness.demo.testApiKey });
    return post(`${session}/send-sms`);
  },
  SESSION_NOT_APPROVED: async () => post(`${await opened()}/consume`),
  SESSION_CONSUMED: async () => {
    const consume = `${await approved()}/consume`;
    await post(consume);
    return post(consume);
  },
  OTP_NOT_SENT: async () => wrongCode(await opened()),
  IDEMPOTENCY_IN_PROGRESS: async () => {
    await under('half-done');
    await harness.database.query(
      `UPDATE idempotency_keys SET status = NULL, body_sealed = NULL, claimed_by = $1,
         claimed_until = clock_timestamp() + interval '30 seconds'`,
      [newId(0)],
    );
    return under('half-done');
  },
  CONFLICT: () => {
    const { accountId, brandSlug } = harness.demo;
    return admin.post('brands', { accountId, name: 'Another', slug: brandSlug, instruction: 'Send this to sign in.' });
  },
  PAYLOAD_TOO_LARGE: () => harness.create({}, { body: `{"a":"${'x'.repeat(128 * 1024)}"}` }),
  UNSUPPORTED_MEDIA_TYPE: () => harness.create({}, { headers: { 'content-type': 'text/plain' } }),
  INVALID_PHONE: () => harness.create({ phone: '+15555555555' }),
  VALIDATION_ERROR: () => harness.create({ metadata: { orderId: 7 } }),
  INVALID_BRAND: () => harness.create({ brandId: 'brd_00000000000000000000000000' }),
  INVALID_WEBHOOK_URL: () => harness.create({ webhookUrl: 'https://10.0.0.1/' }),
  INVALID_CODE: async () => wrongCode(await withCode()),
  IDEMPOTENCY_KEY_REUSED: async () => {
    await under('used');
    return under('used', { ttl: 60 });
  },
  RATE_LIMITED: async () => {
    const key = await slowKey();
    await harness.call('/v1/usage', { key });
    return harness.call('/v1/usage', { key });
  },
  TOO_MANY_ATTEMPTS: async () => {
    const session = await withCode();
    for (let attempt = 0; attempt < 5; attempt++) await wrongCode(session);
    return wrongCode(session);
  },
  SEND_LIMIT_REACHED: async () => {
    const session = await withCode();
    await harness.database.query(`UPDATE sessions SET otp_sends = 3, otp_sent_at = created_at WHERE id = $1`, [
      parseId('sess', session.slice('/v1/verify/'.length)),
    ]);
    return post(`${session}/send-sms`);
  },
  INTERNAL_ERROR: async () => {
    await asOwner(harness.home, 'ALTER TABLE sessions RENAME TO sessions_gone');
    return harness.call(SESSION).finally(() => asOwner(harness.home, 'ALTER TABLE sessions_gone RENAME TO sessions'));
  },
  SERVICE_UNAVAILABLE: async () => {
    const { json } = await harness.create();
    return harness.call(`/v1/verify/${String(json['id'])}/send-sms`, { method: 'POST' });
  },
};

/** The codes whose cause is one field of the request. */
const FIELDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  FORBIDDEN: 'accountId',
  DESTINATION_BLOCKED: 'phone',
  CONFLICT: 'slug',
  INVALID_PHONE: 'phone',
  VALIDATION_ERROR: 'metadata.orderId',
  INVALID_BRAND: 'brandId',
  INVALID_WEBHOOK_URL: 'webhookUrl',
  INVALID_CODE: 'code',
};

const codes = Object.keys(ERRORS).filter((code): code is ErrorCode => Object.hasOwn(REQUESTS, code));

describe('every error of the catalogue', () => {
  it.each(codes)('is answered by a real request: %s', async (code) => {
    const answer = await REQUESTS[code]();
    expect([answer.status, answer.code, answer.field]).toEqual([ERRORS[code].status, code, FIELDS[code]]);
    // Plain HTTP is refused only behind a TLS proxy, and there the proxy adds the second header.
    const hsts = code === 'HTTPS_REQUIRED' ? undefined : 'max-age=31536000';
    const { 'x-content-type-options': sniffing, 'strict-transport-security': strict } = answer.headers;
    expect([sniffing, strict]).toEqual(['nosniff', hsts]);
  });

  it.each(codes)('%s leads to a page that explains it', async (code) => {
    const page = await harness.call(`/docs/errors/${code}`, { key: null });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain(`<h1>${code}</h1>`);
  });
});

describe('an error body', () => {
  it('holds code, message and docUrl, a field where one offends, and attemptsRemaining with INVALID_CODE alone', async () => {
    const keysOf = async (code: ErrorCode): Promise<string[]> =>
      Object.keys((await REQUESTS[code]()).json['error'] ?? {});
    expect(await keysOf('NOT_FOUND')).toEqual(['code', 'message', 'docUrl']);
    expect(await keysOf('VALIDATION_ERROR')).toEqual(['code', 'message', 'field', 'docUrl']);
    expect(await keysOf('INVALID_CODE')).toEqual(['code', 'message', 'field', 'attemptsRemaining', 'docUrl']);
    expect(await keysOf('TOO_MANY_ATTEMPTS')).toEqual(['code', 'message', 'docUrl']);
  });

  it('does not show the cause of an internal error', async () => {
    const { text } = await REQUESTS.INTERNAL_ERROR();
    expect(text).not.toMatch(/sessions|relation|SELECT|postgres/i);
  });
});

describe('the catalogue, the description and the pages', () => {
  it('know the same codes', async () => {
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const { schemas } = json['components'] as { readonly schemas: object };
    const described = [...JSON.stringify(schemas).matchAll(/"enum":\[("MALFORMED_REQUEST"[^\]]*)\]/g)];
    expect(described.map(([, list]) => JSON.parse(`[${list ?? ''}]`) as unknown)).toEqual([codes]);
    const listed = [
      ...(await harness.call('/docs/errors', { key: null })).text.matchAll(/"\/docs\/errors\/([A-Z_]+)"/g),
    ];
    expect(listed.map(([, code]) => code)).toEqual(codes);
  });

  it('are documented for at least one call each, except for those of undocumented addresses', async () => {
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const { responses } = json['components'] as { readonly responses: Readonly<Record<string, object>> };
    const calls = JSON.stringify(json['paths']).replaceAll(
      /"#\/components\/responses\/([^"]+)"/g,
      (reference, name: string) => `${reference}, ${JSON.stringify(responses[name])}`,
    );
    const missing = codes.filter((code) => !calls.includes(`"${code}"`));
    expect(missing).toEqual(['METHOD_NOT_ALLOWED']);
  });
});
