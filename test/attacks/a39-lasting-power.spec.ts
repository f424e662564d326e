import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import type { Database } from '@countersign/postgres';
import { asciiReadings, encodeGsm, encodeUcs2, packSeptets } from '@countersign/text';
import type { PDU } from 'smpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { type Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { DemoAccount } from '../support/demo-account.js';
import { PhoneBrowser, PhoneMembers } from '../support/phone-sign-in.js';
import { receiptsOf } from '../support/quoting-receipts.js';
import { refused } from '../support/stolen-connection.js';
import { openStolenGateway, type StolenGateway } from '../support/stolen-gateway.js';
import { until } from '../support/until.js';

// The phone of a member is verified by messages that gateways carry and engineers route. An attacker who controls these signs in as
// the member, and must get nothing that outlasts the session.

const WITHIN_MS = 40_000;
const INSUFFICIENT_PRIVILEGE = '42501';
const CODE = /\b\d{6}\b/;
/** Changes that a member makes without a confirmation: none of them gives anything. */
const HARMLESS = [
  'POST /v1/account/keys/{id}/revoke',
  'POST /v1/webhooks/test',
  'POST /v1/webhooks/deliveries/{deliveryId}/retry',
];

let stage: StolenGateway;
let harness: ControlPlaneHarness;
let carrier: Carrier;
let root: AdminCalls;
let members: PhoneMembers;
let account: DemoAccount;
let bindId: string;
/** A connection with the gateway's DATABASE_URL. */
let stolen: Database;

const draftOf = (name: string, port: number) => ({
  ...{ name, carrier: name, host: '127.0.0.1', port, systemId: name, password: 'secret08' },
});

beforeAll(async () => {
  stage = await openStolenGateway({ bind: { trustedForMo: true, senderFormat: 'international' } });
  ({ harness, carrier, admin: root, bindId, stolen } = stage);
  members = new PhoneMembers(harness);
  account = new DemoAccount(harness);
});
afterAll(() => stage.close());

const newKey = (changed: Readonly<Record<string, unknown>> = {}): Promise<Answer> => account.newKey(changed);

/** A browser that is signed in because somebody with a gateway's database role approved the verification. */
async function approvedByGateway(phone: string): Promise<PhoneBrowser> {
  const thief = new PhoneBrowser(harness, phone);
  expect((await thief.begin()).status).toBe(200);
  const approved = await stolen.query(
    `UPDATE sessions SET status = 'approved', approved_by = 'mo', ended_at = date_trunc('milliseconds', clock_timestamp()),
       ended_xid = pg_current_xact_id()::text::bigint
     WHERE id = (SELECT id FROM sessions WHERE account_id = $1 AND phone = $2 AND status = 'pending' ORDER BY id DESC LIMIT 1)
     RETURNING id`,
    [SIGN_IN_ACCOUNT_ID, phone],
  );
  expect(approved).toHaveLength(1);
  expect((await thief.state()).json['state']).toBe('approved');
  thief.csrfToken = String((await thief.call('me')).json['csrfToken']);
  return thief;
}

/** The texts of a trace in full, as an engineer reads them. */
const textsIn = (trace: Answer): string =>
  [...trace.text.matchAll(/"octets":"([0-9a-f]+)"/g)]
    .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
    .join('\n');

const codeOf = (submit: unknown): string => {
  const text = (submit as { readonly short_message?: { readonly message?: unknown } }).short_message?.message;
  return CODE.exec(String(text))?.[0] ?? 'none';
};

describe('A39 a sign-in that a gateway has approved', () => {
  it('A39 changes nothing that is live, and the role cannot confirm the session', async () => {
    const { browser: member } = await members.add();
    const keyId = idOf(await newKey());
    const thief = await approvedByGateway(member.phone);
    const before = await account.state();
    for (const [name, path, call] of account.changes(keyId))
      expect([name, (await thief.call(path, call)).code]).toEqual([name, 'CONFIRMATION_REQUIRED']);
    expect(await account.state()).toEqual(before);
    for (const statement of [
      `UPDATE console_sessions SET confirmed_until = now() + interval '1 day'`,
      'SELECT confirmed_by FROM console_sessions',
      'SELECT digest FROM api_keys',
      'UPDATE api_keys SET member_id = NULL',
    ])
      expect([statement, await refused(stolen, statement)]).toEqual([statement, INSUFFICIENT_PRIVILEGE]);
  });

  it('A39 makes no change that the description has, but harmless ones', async () => {
    const { browser } = await members.signedIn();
    const { json } = await harness.call('/v1/openapi.json', { key: null });
    const guarded = account.changes('key_00000000000000000000000000').map(([name]) => name);
    const made: string[] = [];
    for (const [path, methods] of Object.entries(Object(json['paths']) as Record<string, object>)) {
      if (!path.startsWith('/v1/') || path.startsWith('/v1/admin/')) continue;
      for (const method of Object.keys(methods).map((each) => each.toUpperCase())) {
        if (method === 'GET') continue;
        const target = path.replaceAll(/\{[^}]+\}/g, 'x').slice(1);
        const { code } = await browser.call(target, { method, ...(method === 'DELETE' ? {} : { body: {} }) });
        if (code !== 'FORBIDDEN') made.push(`${method} ${path}${code === 'CONFIRMATION_REQUIRED' ? '' : ' free'}`);
      }
    }
    const free = HARMLESS.map((name) => `${name} free`);
    expect(made.sort()).toEqual([...guarded, ...free].sort());
  });

  it('A39 makes test keys, which see nothing live and confirm nothing', async () => {
    const { browser } = await members.signedIn();
    const headers = { 'countersign-mode': 'test' };
    const made = await browser.call('v1/account/keys', { method: 'POST', body: { name: 'trial' }, headers });
    expect([made.status, made.json['kind']]).toEqual([201, 'test']);
    const confirmed = await browser.call('sessions/current/confirm', {
      method: 'POST',
      body: { key: made.json['key'] },
    });
    expect([confirmed.code, confirmed.field]).toEqual(['VALIDATION_ERROR', 'key']);
    expect((await browser.call('v1/account/keys', { method: 'POST', body: { name: 'ci' } })).code).toBe(
      'CONFIRMATION_REQUIRED',
    );
  });
});

describe('A39 the confirmation of a session', () => {
  const confirm = (browser: PhoneBrowser, key: unknown): Promise<Answer> =>
    browser.call('sessions/current/confirm', { method: 'POST', body: { key } });
  const make = (browser: PhoneBrowser, scopes: readonly string[]): Promise<Answer> =>
    browser.call('v1/account/keys', { method: 'POST', body: { name: 'ci', scopes } });

  it('A39 needs a live key of the own account that is valid', async () => {
    const { browser } = await members.signedIn();
    const other = idOf(await root.post('accounts', { name: 'Other' }));
    const revoked = await newKey();
    await root.post(`keys/${idOf(revoked)}/revoke`);
    const wrong = [
      harness.demo.testApiKey,
      root.key,
      revoked.json['key'],
      (await newKey({ accountId: other })).json['key'],
      String(revoked.json['key']).slice(0, -1),
      'csk_live_guess',
    ];
    for (const key of wrong) expect([key, (await confirm(browser, key)).field]).toEqual([key, 'key']);
    expect((await make(browser, ['usage'])).code).toBe('CONFIRMATION_REQUIRED');
  });

  it('A39 gives no scope and no limit that its key lacks', async () => {
    const { browser } = await members.signedIn();
    const key = await newKey({ scopes: ['usage', 'verify'], limits: { default: 7 } });
    expect((await confirm(browser, key.json['key'])).status).toBe(200);
    const made = await make(browser, ['usage']);
    expect([made.status, made.json['limits']]).toEqual([201, { default: 7 }]);
    expect((await make(browser, ['usage', 'account'])).code).toBe('FORBIDDEN');
    expect((await browser.call(`v1/account/keys/${idOf(await newKey())}/rotate`, { method: 'POST' })).code).toBe(
      'FORBIDDEN',
    );
    const redirect = { method: 'PATCH', body: { defaultWebhookUrl: 'https://thief.example/hook' } };
    expect((await browser.call('v1/account/webhook', redirect)).code).toBe('CONFIRMATION_REQUIRED');
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['revoked', (id) => root.post(`keys/${id}/revoke`)],
    ['rotated', (id) => root.post(`keys/${id}/rotate`)],
    ['15 minutes old', () => harness.database.query('UPDATE console_sessions SET confirmed_until = clock_timestamp()')],
  ])('A39 ends when its key is %s', async (_, end) => {
    const { browser } = await members.signedIn();
    const key = await newKey();
    expect((await confirm(browser, key.json['key'])).json['confirmedUntil']).toEqual(expect.any(String));
    expect((await make(browser, ['usage'])).status).toBe(201);
    await end(idOf(key));
    expect((await make(browser, ['usage'])).code).toBe('CONFIRMATION_REQUIRED');
    expect((await browser.call('me')).json['confirmedUntil']).toBeUndefined();
  });

  it('A39 is of one session, and guesses of keys use up the limit of their address', async () => {
    const { browser } = await members.signedIn();
    expect((await confirm(browser, (await newKey()).json['key'])).status).toBe(200);
    const again = new PhoneBrowser(harness, browser.phone);
    await again.signInByPhone();
    expect((await make(again, ['usage'])).code).toBe('CONFIRMATION_REQUIRED');
    const codes: unknown[] = [];
    for (let guess = 0; guess < 61; guess += 1) codes.push((await confirm(again, 'csk_live_guess')).code);
    expect([codes[0], codes.at(-1)]).toEqual(['VALIDATION_ERROR', 'RATE_LIMITED']);
    expect((await confirm(again, (await newKey()).json['key'])).status).toBe(200);
  });
});

describe('A39 an operator of the installation', () => {
  it('A39 reads no code of a sign-in in a trace that records texts, nor in a receipt', async () => {
    const operator = await root.colleague('operator', 'night shift');
    const { browser } = await members.add();
    expect((await operator.post(`binds/${bindId}/trace`, { seconds: 600 })).status).toBe(202);
    let others = 4_000;
    // The gateway reads the row of the bind again before it records texts.
    await until('texts are recorded', WITHIN_MS, async () => {
      const before = carrier.submits.length;
      const phone = `+1415555${String(others++)}`;
      const session = idOf(await harness.create({ channel: 'sms_fallback', phone }));
      await harness.call(`/v1/verify/${session}/send-sms`, { method: 'POST' });
      await until('the code is sent', WITHIN_MS, () => carrier.submits.length > before);
      const code = codeOf(carrier.submits[before]);
      return code !== 'none' && textsIn(await operator.get(`binds/${bindId}/trace`)).includes(code);
    });
    const sent = carrier.submits.length;
    expect((await browser.begin()).status).toBe(200);
    expect((await browser.sendCode()).status).toBe(202);
    await until('the code is sent', WITHIN_MS, () => carrier.submits.length > sent);
    const code = codeOf(carrier.submits[sent]);
    expect(code).toMatch(CODE);
    // Receipts are asked for with other codes alone, since many quote the text, but some carriers send them unasked.
    expect(carrier.submits.map(({ registered_delivery }) => registered_delivery)).toEqual(
      carrier.submits.map((_, at) => (at === sent ? 0 : 1)),
    );
    for (const receipt of receiptsOf(browser.phone, carrier.idOf(sent), code)) await carrier.deliver(receipt);
    const texts = textsIn(await operator.get(`binds/${bindId}/trace`));
    expect(texts).toContain(`id:${carrier.idOf(sent)} stat:DELIVRD`);
    for (const reading of asciiReadings(Buffer.from(texts, 'latin1'))) expect(reading).not.toContain(code);
    expect(texts).not.toContain(Buffer.from(code).toString('hex'));
    expect((await browser.check(code)).status).toBe(200);
  });

  it('A39 reveals no code of a sign-in in a receipt that its link has read in another alphabet', async () => {
    const operator = await root.colleague('operator', 'alphabets');
    const support = await root.colleague('support', 'reader');
    const { browser } = await members.add();
    const sent = carrier.submits.length;
    expect((await browser.begin()).status).toBe(200);
    expect((await browser.sendCode()).status).toBe(202);
    await until('the code is sent', WITHIN_MS, () => carrier.submits.length > sent);
    const code = codeOf(carrier.submits[sent]);
    expect(code).toMatch(CODE);
    const packed = { defaultAlphabet: 'gsm-packed' };
    const refusal = await operator.patch(`binds/${bindId}`, packed);
    expect([refusal.status, refusal.field]).toEqual([403, 'defaultAlphabet']);
    expect((await root.patch(`binds/${bindId}`, packed)).status).toBe(200);
    const messages = `messages?direction=in&phone=${encodeURIComponent(browser.phone)}`;
    const reveal = async (by: AdminCalls, id: unknown): Promise<string> =>
      String((await by.post(`messages/${String(id)}/reveal`)).json['text']);
    const probe = { source_addr: browser.phone.slice(1), destination_addr: '14155550199' };
    await until('the link reads septets', WITHIN_MS, async () => {
      if (!carrier.isBound) return false;
      await carrier.deliver({ ...probe, short_message: Buffer.from('probe') });
      const [latest] = dataOf(await root.get(messages));
      return latest !== undefined && (await reveal(root, latest['id'])) !== 'probe';
    });
    // They name no message, so those that nothing but their text marks are stored as MOs.
    for (const receipt of receiptsOf(browser.phone, 'another', code)) await carrier.deliver(receipt);
    const stored = dataOf(await operator.get(messages));
    expect(stored.length).toBeGreaterThan(3);
    for (const message of stored) {
      const text = await reveal(support, message['id']);
      expect(text).not.toBe('undefined');
      const septets = Buffer.concat(Array.from(text, (character) => encodeGsm(character) ?? Buffer.alloc(1)));
      const packings = Array.from({ length: 8 }, (_, bits) => packSeptets(septets, bits));
      for (const octets of [Buffer.from(text), encodeUcs2(text), ...packings])
        for (const reading of asciiReadings(octets)) expect([text, reading.includes(code)]).toEqual([text, false]);
    }
    expect((await root.patch(`binds/${bindId}`, { defaultAlphabet: 'gsm' })).status).toBe(200);
  });

  it('A39 gets no code of a sign-in over a bind, a route or a rewriting rule of their own', async () => {
    const operator = await root.colleague('operator', 'router');
    const { browser } = await members.add();
    const own = new Carrier('own');
    const bind = await operator.post('binds', draftOf('own', await own.listen()));
    const route = await operator.post('routes', { prefix: browser.phone, bindId: idOf(bind) });
    await until('the bind is bound', WITHIN_MS, () => own.isBound);
    const rewrite = [{ of: 'destination', match: browser.phone.slice(1), exact: true, replace: '447700900123' }];
    const detour = await operator.post('routes', {
      ...{ prefix: browser.phone, bindId, submitOptions: { rewrite } },
    });
    expect([bind.status, route.status, detour.status]).toEqual([201, 201, 201]);
    const sent = carrier.submits.length;
    expect((await browser.begin()).status).toBe(200);
    expect((await browser.sendCode()).status).toBe(202);
    await until('the code is sent', WITHIN_MS, () => carrier.submits.length > sent);
    expect(carrier.submits[sent]?.['destination_addr']).toBe(browser.phone.slice(1));
    expect(own.submits).toEqual([]);
    // Codes of others go there.
    const session = idOf(await harness.create({ channel: 'sms_fallback', phone: browser.phone }));
    await operator.delete(`routes/${idOf(detour)}`);
    await until('the other code is sent', WITHIN_MS, async () => {
      await harness.call(`/v1/verify/${session}/send-sms`, { method: 'POST' });
      return own.submits.length > 0;
    });
    await own.close();
  });

  const recipientOf = (submit?: PDU) => ({
    ...{ ton: submit?.['dest_addr_ton'], npi: submit?.['dest_addr_npi'], address: submit?.['destination_addr'] },
  });
  let others = 7_000;

  it.each([
    [
      { form: 'national', ton: 1 },
      { ton: 1, npi: 1, digitsFrom: 2 },
    ],
    [{ form: 'national' }, { ton: 2, npi: 1, digitsFrom: 2 }],
    [{ ton: 2 }, { ton: 2, npi: 1, digitsFrom: 1 }],
    [{ ton: 0 }, { ton: 0, npi: 1, digitsFrom: 1 }],
    [{ npi: 6 }, { ton: 1, npi: 6, digitsFrom: 1 }],
  ])('A39 gets no code of a sign-in by another form, type or plan of its number: %j', async (destination, sentAs) => {
    const { browser } = await members.add();
    const operator = await root.colleague('operator', `router of ${browser.phone}`);
    const route = { prefix: browser.phone.slice(0, 8), bindId, submitOptions: { destination } };
    const detour = await operator.post('routes', route);
    expect(detour.status).toBe(201);
    const { digitsFrom, ...numbering } = sentAs;
    await until('codes of others go that way', WITHIN_MS, async () => {
      const before = carrier.submits.length;
      const phone = `${route.prefix}${String(others++)}`;
      const session = idOf(await harness.create({ channel: 'sms_fallback', phone }));
      await harness.call(`/v1/verify/${session}/send-sms`, { method: 'POST' });
      await until('the other code is sent', WITHIN_MS, () => carrier.submits.length > before);
      const { address, ...found } = recipientOf(carrier.submits[before]);
      return address === phone.slice(digitsFrom) && JSON.stringify(found) === JSON.stringify(numbering);
    });
    const sent = carrier.submits.length;
    expect((await browser.begin()).status).toBe(200);
    expect((await browser.sendCode()).status).toBe(202);
    await until('the code is sent', WITHIN_MS, () => carrier.submits.length > sent);
    expect(recipientOf(carrier.submits[sent])).toEqual({ ton: 1, npi: 1, address: browser.phone.slice(1) });
    expect((await operator.delete(`routes/${idOf(detour)}`)).status).toBe(204);
  });
});

describe('A39 the keys of a member who is removed', () => {
  /** A member with a live key that they made, one that they rotated, and one that was made with the first. */
  async function withKeys(): Promise<{ readonly id: string; readonly keys: readonly Answer[] }> {
    const { id, browser } = await members.signedIn();
    const confirming = await newKey({ scopes: ['verify', 'account', 'webhooks'] });
    await browser.call('sessions/current/confirm', { method: 'POST', body: { key: confirming.json['key'] } });
    const made = await browser.call('v1/account/keys', {
      ...{ method: 'POST', body: { name: 'made', scopes: ['verify', 'account'] } },
    });
    const target = `v1/account/keys/${idOf(await newKey({ scopes: ['verify'] }))}/rotate`;
    const rotated = await browser.call(target, { method: 'POST' });
    const heir = await harness.call('/v1/account/keys', {
      ...{ method: 'POST', key: String(made.json['key']), body: { name: 'heir', scopes: ['verify'] } },
    });
    const keys = [made, rotated, heir];
    expect(keys.map(({ status }) => status)).toEqual([201, 202, 201]);
    return { id, keys };
  }
  const statusOf = async ({ json }: Answer): Promise<number> =>
    (await harness.call('/v1/verify', { key: String(json['key']) })).status;
  const ids = (keys: readonly Answer[]): string[] => keys.map(idOf).sort();

  it('A39 are no silent way in: a deletion is refused until it says what becomes of them', async () => {
    const { id, keys } = await withKeys();
    const refusedDeletion = await root.delete(`members/${id}`);
    expect([refusedDeletion.code, refusedDeletion.field]).toEqual(['CONFLICT', 'revokeKeys']);
    expect(
      dataOf(await root.get(`members/${id}/keys`))
        .map((key) => String(key['id']))
        .sort(),
    ).toEqual(ids(keys));
    expect((await root.delete(`members/${id}?revokeKeys=true`)).status).toBe(204);
    for (const key of keys) {
      await until('the key is revoked', WITHIN_MS, async () => (await statusOf(key)) === 401);
      expect((await root.notes(idOf(key))).at(-1)).toMatchObject({ actor: 'root', action: 'revoke', resource: 'keys' });
    }
  });

  it('A39 are in the answer to a deactivation, and are revoked with it', async () => {
    const { id, keys } = await withKeys();
    const { json, status } = await root.patch(`members/${id}`, { active: false });
    expect(status).toBe(200);
    expect((json['keys'] as { readonly id: string }[]).map((key) => key.id).sort()).toEqual(ids(keys));
    const revoked = await root.patch(`members/${id}`, { active: false, revokeKeys: true });
    expect([revoked.status, revoked.json['keys']]).toEqual([200, undefined]);
    for (const key of keys) await until('the key is revoked', WITHIN_MS, async () => (await statusOf(key)) === 401);
    expect((await root.delete(`members/${id}`)).status).toBe(204);
  });

  it('A39 are no longer theirs once an owner has rotated them', async () => {
    const { id, keys } = await withKeys();
    for (const key of keys) await root.post(`keys/${idOf(key)}/rotate`);
    expect(dataOf(await root.get(`members/${id}/keys`))).toEqual([]);
    expect((await root.delete(`members/${id}`)).status).toBe(204);
  });

  it('A39 are none that these keys make while the member is being removed', async () => {
    const { id, keys } = await withKeys();
    const key = String(keys[0]?.json['key']);
    const body = { name: 'race', scopes: ['verify'] };
    const calls = Array.from({ length: 12 }, () => harness.call('/v1/account/keys', { method: 'POST', key, body }));
    const [removed, ...made] = await Promise.all([root.delete(`members/${id}?revokeKeys=true`), ...calls]);
    expect(removed.status).toBe(204);
    expect(made.every(({ status }) => status === 201 || status === 401)).toBe(true);
    const left = dataOf(await root.get(`members/${id}/keys?limit=100`));
    expect(left.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });

  it('A39 are none that a request makes while the member is being removed', async () => {
    const { id, browser } = await members.signedIn();
    const confirming = await newKey();
    await browser.call('sessions/current/confirm', { method: 'POST', body: { key: confirming.json['key'] } });
    const calls = Array.from({ length: 12 }, () =>
      browser.call('v1/account/keys', { method: 'POST', body: { name: 'race' } }),
    );
    const removal = root.delete(`members/${id}?revokeKeys=true`);
    const [removed, ...made] = await Promise.all([removal, ...calls]);
    expect(removed.status).toBe(204);
    expect(made.every(({ status, code }) => status === 201 || code === 'CONFLICT' || status === 401)).toBe(true);
    const left = dataOf(await root.get(`members/${id}/keys`));
    expect(left.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  });
});
