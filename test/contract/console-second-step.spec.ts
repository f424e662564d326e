import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import type { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';
import { PhoneBrowser } from '../support/phone-sign-in.js';
import { until } from '../support/until.js';

const PHONE = '+14155556100';

let home: OtpHarness;
let harness: ControlPlaneHarness;
let root: AdminCalls;
let id: string;
let key: string;

beforeAll(async () => {
  home = await OtpHarness.open({ CONSOLE_SECOND_STEP: 'true' });
  harness = home.harness;
  root = new AdminCalls(harness);
  const made = await root.post('admin-keys', { name: 'night shift', role: 'operator', phone: PHONE });
  [id, key] = [idOf(made), String(made.json['key'])];
});
afterAll(() => home.close());

describe('GET /console/api/sign-in/ways', () => {
  it('lists the ways that are configured, to everybody', async () => {
    const { status, json } = await new ConsoleBrowser(harness).call('sign-in/ways');
    expect([status, json]).toEqual([200, { key: true, oidc: null, phone: true, secondStep: true }]);
  });
});

describe('a sign-in with a second step', () => {
  it('waits for the SMS of the holder’s phone', async () => {
    const browser = new PhoneBrowser(harness, PHONE);
    const { status, json, headers } = await browser.signIn(key);
    expect(status).toBe(202);
    expect(json).toEqual({
      fallbackUri: expect.stringMatching(/^sms:\+14155550199\?.*AUTH-CONSOLE-/) as string,
      inboundNumber: '+14155550199',
      expiresAt: expect.any(String) as string,
      phone: '+141******00',
    });
    expect(headers['set-cookie']).toMatch(
      /^__Host-countersign-step=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=360; HttpOnly; Secure; SameSite=Strict$/,
    );
    const pending = await browser.call('sign-in/second-step');
    expect(pending.json).toEqual({ state: 'pending', secondStep: json });
    expect(await browser.sendSms()).toBe('matched');
    const { json: approved } = await browser.call('sign-in/second-step');
    expect(approved).toMatchObject({ state: 'approved', me: { name: 'night shift', role: 'operator' } });
    expect((await browser.call('me')).json).toEqual(approved['me']);
    const [session] = dataOf(await browser.call('sessions'));
    expect(session).toMatchObject({ method: 'key' });
    expect(await root.notes(session?.['id'])).toMatchObject([{ action: 'sign-in', after: { secondStep: 'phone' } }]);
  });

  it('takes a code, and a change of the phone ends the session', async () => {
    const browser = new PhoneBrowser(harness, PHONE);
    await browser.signIn(key);
    const call = { method: 'POST' } as const;
    expect((await browser.call('sign-in/second-step/send-code', call)).status).toBe(202);
    expect((await browser.call('sign-in/second-step/send-code', call)).code).toBe('SEND_LIMIT_REACHED');
    await until('the code is queued', 5_000, async () => (await browser.codes()).length > 0);
    const [code = ''] = await browser.codes();
    const answer = await browser.call('sign-in/second-step/check', { ...call, body: { code } });
    expect([answer.status, answer.json['name']]).toEqual([200, 'night shift']);
    expect((await browser.call('me')).status).toBe(200);
    await root.patch(`admin-keys/${id}`, { phone: '+14155556101' });
    expect((await browser.call('me')).status).toBe(401);
  });

  it('is not asked of the key of the environment', async () => {
    const browser = await ConsoleBrowser.withKey(harness, root.key);
    expect((await browser.call('me')).json).toMatchObject({ name: 'root' });
  });
});
