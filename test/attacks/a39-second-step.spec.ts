import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import type { Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';
import { PhoneBrowser } from '../support/phone-sign-in.js';
import { until } from '../support/until.js';

const STEP = '__Host-countersign-step';

let home: OtpHarness;
let harness: ControlPlaneHarness;
let root: AdminCalls;
let phones = 0;

beforeAll(async () => {
  home = await OtpHarness.open({ CONSOLE_SECOND_STEP: 'true' });
  harness = home.harness;
  root = new AdminCalls(harness);
});
afterAll(() => home.close());

/** A browser with a named admin key whose holder has the phone. */
async function holder(role = 'operator'): Promise<{ id: string; key: string; browser: PhoneBrowser }> {
  const browser = new PhoneBrowser(harness, `+1415555${String(5_100 + phones++)}`);
  const made = await root.post('admin-keys', { name: `holder ${browser.phone}`, role, phone: browser.phone });
  return { id: idOf(made), key: String(made.json['key']), browser };
}

const state = (browser: PhoneBrowser): Promise<Answer> => browser.call('sign-in/second-step');
const check = (browser: PhoneBrowser, code: string): Promise<Answer> =>
  browser.call('sign-in/second-step/check', { method: 'POST', body: { code } });
const sendCode = (browser: PhoneBrowser): Promise<Answer> =>
  browser.call('sign-in/second-step/send-code', { method: 'POST' });

describe('A39 the second step', () => {
  it('A39 a half signed-in browser can do nothing else', async () => {
    const { key, browser } = await holder('owner');
    const first = await browser.signIn(key);
    expect([first.status, browser.cookie, first.json['csrfToken']]).toEqual([202, undefined, undefined]);
    const step = browser.cookies.get(STEP) ?? '';
    for (const path of ['me', 'sessions', 'v1/admin/accounts'])
      expect([path, (await browser.call(path)).status]).toEqual([path, 401]);
    const thief = new PhoneBrowser(harness, browser.phone);
    thief.cookie = step;
    expect((await thief.call('me')).status).toBe(401);
    thief.signInCookie = step;
    expect((await thief.state()).status).toBe(401);
    const rows = await harness.database.query('SELECT 1 FROM console_sessions WHERE admin_key_id IS NOT NULL');
    expect(rows).toEqual([]);
  });

  it('A39 the approval of another holder, or of a member of an account, does not end it', async () => {
    const [victim, other] = [await holder(), await holder()];
    for (const { key, browser } of [victim, other]) await browser.signIn(key);
    expect(await victim.browser.sendSms(other.browser.phone)).toBe('wrong_sender');
    await other.browser.sendSms();
    expect((await state(victim.browser)).json['state']).toBe('pending');
    expect((await state(other.browser)).json).toMatchObject({ state: 'approved', me: { role: 'operator' } });
    await harness.database.query(`UPDATE console_sign_ins SET session_id = $1 WHERE session_id = $2`, [
      (await other.browser.session()).id,
      (await victim.browser.session()).id,
    ]);
    expect((await state(victim.browser)).status).toBe(401);
  });

  it('A39 a phone that is changed while the step ends opens nothing', async () => {
    const { id, key, browser } = await holder();
    await browser.signIn(key);
    await browser.sendSms();
    const ended = await harness.database.transaction(async (tx) => {
      await tx.query(`UPDATE admin_keys SET phone = '+14155554997' WHERE id = $1`, [parseId('akey', id)]);
      const answer = state(browser);
      await until('the step waits for the change', 5_000, async () => {
        const rows = await harness.database.query('SELECT FROM pg_locks WHERE NOT granted');
        return rows.length > 0;
      });
      return { answer };
    });
    expect([(await ended.answer).status, browser.cookie]).toEqual([401, undefined]);
  });

  it('A39 the cookie of one browser does not end the step of another (fixation, theft)', async () => {
    const { key, browser } = await holder();
    await browser.signIn(key);
    const planted = browser.cookies.get(STEP) ?? '';
    await browser.signIn(key);
    expect(browser.cookies.get(STEP)).not.toBe(planted);
    await browser.sendSms();
    const thief = new PhoneBrowser(harness, browser.phone);
    thief.cookies.set(STEP, planted);
    expect((await state(thief)).json['state']).toBe('pending');
    expect((await state(browser)).json['state']).toBe('approved');
    thief.cookies.set(STEP, browser.cookies.get(STEP) ?? '');
    expect([(await state(thief)).status, thief.cookie]).toEqual([401, undefined]);
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['revoked', (id) => root.post(`admin-keys/${id}/revoke`)],
    ['rotated', (id) => root.post(`admin-keys/${id}/rotate`)],
    ['given another phone', (id) => root.patch(`admin-keys/${id}`, { phone: '+14155559900' })],
  ])('A39 a key that was %s meanwhile opens nothing', async (_, change) => {
    const { id, key, browser } = await holder();
    await browser.signIn(key);
    await change(id);
    await browser.sendSms();
    expect([(await state(browser)).status, browser.cookie]).toEqual([401, undefined]);
  });

  it('A39 its code is not guessed: five checks in a step, five steps of a holder in 10 minutes', async () => {
    const { key, browser } = await holder();
    await browser.signIn(key);
    expect((await sendCode(browser)).status).toBe(202);
    await until('the code is queued', 5_000, async () => (await browser.codes()).length > 0);
    const [code = ''] = await browser.codes();
    const wrong = code === '000000' ? '000001' : '000000';
    for (let guess = 0; guess < 5; guess += 1) expect((await check(browser, wrong)).code).toBe('INVALID_CODE');
    expect((await check(browser, code)).code).toBe('INVALID_CODE');
    const statuses: number[] = [];
    for (let start = 0; start < 5; start += 1) statuses.push((await browser.signIn(key)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 429]);
  });

  it('A39 a key without a phone opens nothing, and the key of the environment is the way back in', async () => {
    const browser = new PhoneBrowser(harness, '+14155559901');
    const { key } = await root.colleague('owner', 'no phone');
    const refused = await browser.signIn(key);
    expect([refused.status, refused.code, [...browser.cookies]]).toEqual([403, 'FORBIDDEN', []]);
    expect((await browser.signIn(root.key)).json['name']).toBe('root');
  });

  it('A39 an approval opens one session, with the step in the audit log', async () => {
    const { key, browser } = await holder();
    await browser.signIn(key);
    await browser.sendSms();
    const answers = await Promise.all(Array.from({ length: 6 }, () => state(browser)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const log = await root.log();
    expect(log).toContain('secondStep');
  });
});
