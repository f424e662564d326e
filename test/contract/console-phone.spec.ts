import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import type { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';
import { type PhoneBrowser, PhoneMembers } from '../support/phone-sign-in.js';
import { until } from '../support/until.js';

let home: OtpHarness;
let harness: ControlPlaneHarness;
let members: PhoneMembers;
let root: AdminCalls;

beforeAll(async () => {
  home = await OtpHarness.open();
  harness = home.harness;
  members = new PhoneMembers(harness);
  root = new AdminCalls(harness);
});
afterAll(() => home.close());

/** A member’s browser that has begun. */
async function begun(role?: string): Promise<PhoneBrowser> {
  const { browser } = await members.add(role);
  expect((await browser.begin()).status).toBe(200);
  return browser;
}

async function codeOf(browser: PhoneBrowser): Promise<string> {
  expect((await browser.sendCode()).status).toBe(202);
  await until('the code is queued', 5_000, async () => (await browser.codes()).length > 0);
  return (await browser.codes())[0] ?? '';
}

describe('POST /console/api/sign-in/phone', () => {
  it('begins a verification of this browser, and sends nothing', async () => {
    const { browser } = await members.add();
    const { status, json, headers } = await browser.begin();
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(['expiresAt', 'fallbackUri', 'inboundNumber']);
    expect(json['fallbackUri']).toMatch(/^sms:\+14155550199\?.*AUTH-CONSOLE-/);
    expect(headers['set-cookie']).toMatch(
      /^__Host-countersign-phone=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=360; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(headers['ratelimit-policy']).toBe('"start";q=5;w=600');
    const left = Date.parse(String(json['expiresAt'])) - Date.now();
    expect(Math.abs(left - 300_000)).toBeLessThan(30_000);
    expect((await browser.state()).json).toEqual({ state: 'pending', expiresAt: json['expiresAt'] });
    expect(await browser.codes()).toEqual([]);
  });

  it.each([
    [{}, 'VALIDATION_ERROR'],
    [{ phone: 7 }, 'VALIDATION_ERROR'],
    [{ phone: '+1' }, 'INVALID_PHONE'],
    [{ phone: '+15005550001' }, 'INVALID_PHONE'],
  ])('is refused with %j', async (body, code) => {
    expect((await members.stranger().begin({ body })).code).toBe(code);
  });

  it('begins five sign-ins of one address in 10 minutes', async () => {
    const browser = members.stranger();
    const statuses: number[] = [];
    for (let start = 0; start < 6; start += 1) statuses.push((await browser.begin()).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('a sign-in with a phone', () => {
  it.each(['developer', 'viewer'])('of a %s is approved by the SMS of the link', async (role) => {
    const browser = await begun(role);
    expect(await browser.sendSms()).toBe('matched');
    const { status, json, headers } = await browser.state();
    const { accountId } = harness.demo;
    expect([status, json['state']]).toEqual([200, 'approved']);
    expect(json['me']).toMatchObject({ role, accountId, name: `Dev ${role}` });
    expect(headers['set-cookie']).toMatch(/^__Host-countersign=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=43200;/);
    expect((await browser.call('me')).json).toEqual(json['me']);
    expect((await browser.call('v1/account')).status).toBe(200);
    expect((await browser.call('v1/admin/accounts')).code).toBe('FORBIDDEN');
  });

  it('is approved by a code, with the session of the code alone', async () => {
    const browser = await begun();
    const code = await codeOf(browser);
    const answer = await browser.check(code);
    expect([answer.status, answer.json['role']]).toEqual([200, 'developer']);
    expect((await browser.call('me')).json).toEqual(answer.json);
    expect((await browser.state()).status).toBe(401);
    expect((await browser.check(code)).code).toBe('INVALID_CODE');
  });

  it('is recorded: method, last sign-in and an entry of the audit log', async () => {
    const { id, browser } = await members.add();
    await browser.begin();
    await browser.sendSms();
    await browser.state();
    const [session] = dataOf(await browser.call('sessions'));
    expect(session).toMatchObject({ method: 'phone', role: 'developer' });
    expect(await root.notes(session?.['id'])).toMatchObject([
      { actor: `Dev developer (${id})`, action: 'sign-in', after: { method: 'phone' } },
    ]);
    expect((await root.get(`members/${id}`)).json['lastSignInAt']).toEqual(expect.any(String));
  });

  it('sends a code once in 40 seconds', async () => {
    const browser = await begun();
    await codeOf(browser);
    const again = await browser.sendCode();
    expect([again.status, again.code]).toEqual([429, 'SEND_LIMIT_REACHED']);
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(0);
    expect(await browser.codes()).toHaveLength(1);
  });

  it('accepts five checks', async () => {
    const browser = await begun();
    const code = await codeOf(browser);
    const wrong = code === '000000' ? '000001' : '000000';
    for (let guess = 0; guess < 5; guess += 1) expect((await browser.check(wrong)).code).toBe('INVALID_CODE');
    expect((await browser.check(code)).code).toBe('INVALID_CODE');
    expect(await browser.sendSms()).toBe('matched');
    expect((await browser.state()).json['state']).toBe('approved');
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['deactivated', (id) => root.patch(`members/${id}`, { active: false })],
    ['deleted', (id) => root.delete(`members/${id}`)],
    ['given another phone', (id) => root.patch(`members/${id}`, { phone: '+14155554999' })],
  ])('opens nothing for a member who was %s meanwhile', async (_, change) => {
    const { id, browser } = await members.add();
    await browser.begin();
    await change(id);
    await browser.sendSms();
    expect((await browser.state()).status).toBe(401);
    expect(browser.cookie).toBeUndefined();
    await root.delete(`members/${id}`);
  });

  it('ends with its time', async () => {
    const browser = await begun();
    await browser.sendSms();
    await harness.database.query(`UPDATE console_sign_ins SET expires_at = clock_timestamp() WHERE kind = 'phone'`);
    const { code, headers } = await browser.state();
    expect([code, headers['www-authenticate']]).toEqual(['UNAUTHORIZED', 'Cookie']);
  });

  it('stores neither the cookie nor the code', async () => {
    const browser = await begun();
    const code = await codeOf(browser);
    const rows = await harness.database.query('SELECT s::text AS row FROM console_sign_ins s');
    const sessions = await harness.database.query('SELECT s::text AS row FROM sessions s');
    const stored = JSON.stringify([rows, sessions]) + harness.log.join('');
    expect(stored).not.toContain(browser.signInCookie);
    expect(JSON.stringify(rows) + harness.log.join('')).not.toContain(code);
  });
});
