import { parseId, renderId } from '@countersign/ids';
import { SIGN_IN_ACCOUNT_ID, SIGN_IN_BRAND_ID } from '@countersign/keys';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import type { Answer, ControlPlaneHarness } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';
import { PhoneBrowser, PhoneMembers } from '../support/phone-sign-in.js';
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

async function begun(browser: PhoneBrowser): Promise<PhoneBrowser> {
  expect((await browser.begin()).status).toBe(200);
  return browser;
}

const memberBrowser = async (): Promise<PhoneBrowser> => begun((await members.add()).browser);

/** An answer without the values that differ in every sign-in. */
function shapeOf({ status, headers, json, code }: Answer): unknown {
  const { 'set-cookie': cookie = '' } = headers;
  const fields = Object.entries(json).map(([name, value]) => [name, typeof value]);
  return [status, code, fields, String(cookie).replace(/=[\w-]{43};/, ';'), Object.keys(headers).sort()];
}

/** The answers to a whole sign-in with wrong codes, and then without a further one. */
async function shapes(browser: PhoneBrowser): Promise<unknown[]> {
  const answers = [await browser.begin(), await browser.state(), await browser.check('000000')];
  answers.push(
    await browser.sendCode(),
    await browser.sendCode(),
    await browser.check('000000'),
    await browser.state(),
  );
  for (let guess = 0; guess < 5; guess += 1) answers.push(await browser.check('000000'));
  return answers.map(shapeOf);
}

describe('A39 sign-ins with a phone', () => {
  it('A39 an unknown number has the same answers as a member’s, and nothing is queued to it', async () => {
    const { browser: member } = await members.add();
    const nobody = members.stranger();
    const ofMember = await shapes(member);
    expect(await shapes(nobody)).toEqual(ofMember);
    await until('the member gets a code', 5_000, async () => (await member.codes()).length === 1);
    expect(await nobody.codes()).toEqual([]);
    const cards = await harness.database.query('SELECT 1 FROM cards');
    expect(cards).toEqual([]);
  });

  it('A39 codes of two accounts to a member’s phone are as many as to any other', async () => {
    const { browser } = await members.add();
    await begun(browser);
    expect((await browser.sendCode()).status).toBe(202);
    await until('the member gets a code', 5_000, async () => (await browser.codes()).length === 1);
    const statuses: number[] = [];
    for (const name of ['One', 'Two']) {
      const accountId = idOf(await root.post('accounts', { name, otpCountries: ['*'] }));
      const brand = { accountId, name, slug: `A39${name.toUpperCase()}`, instruction: 'Send this.' };
      const brandId = idOf(await root.post('brands', brand));
      const key = String((await root.post('keys', { accountId, kind: 'live', name })).json['key']);
      // The cap of an account and phone; both together have that of all accounts.
      for (let codes = 0; codes < 5; codes += 1) {
        const body = { phone: browser.phone, accountId, brandId, channel: 'sms_fallback' };
        const { json } = await harness.create(body, { key });
        statuses.push((await home.sendWithRetry(String(json['id']), { key })).status);
      }
    }
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
  });

  it('A39 a check is worked off alike, whether a code was sent, refused or never meant to be', async () => {
    const counts = async (browser: PhoneBrowser): Promise<unknown> => {
      const { id } = await browser.session();
      const [row] = await harness.database.query(
        'SELECT otp_sends AS sends, otp_attempts AS tries, cardinality(otp_digests) AS digests FROM sessions WHERE id = $1',
        [id],
      );
      return row;
    };
    const [member, refused] = [await memberBrowser(), await memberBrowser()];
    const nobody = await begun(members.stranger());
    await root.post('destinations', { prefix: refused.phone, action: 'block', reason: 'test' });
    for (const browser of [member, nobody, refused]) {
      expect((await browser.sendCode()).status).toBe(202);
      await until('a code is stored', 5_000, async () => Reflect.get(Object(await counts(browser)), 'sends') === 1);
      expect((await browser.check('000000')).code).toBe('INVALID_CODE');
      expect(await counts(browser)).toEqual({ sends: 1, tries: 1, digests: 1 });
    }
    expect([await nobody.codes(), await refused.codes()]).toEqual([[], []]);
  });

  it('A39 a phone that is changed while it signs in opens nothing', async () => {
    const { id, browser } = await members.add();
    await begun(browser);
    await browser.sendSms();
    const state = await harness.database.transaction(async (tx) => {
      await tx.query('SELECT FROM members WHERE id = $1 FOR NO KEY UPDATE', [parseId('mbr', id)]);
      await tx.query('DELETE FROM console_sessions WHERE member_id = $1', [parseId('mbr', id)]);
      await tx.query(`UPDATE members SET phone = '+14155554998' WHERE id = $1`, [parseId('mbr', id)]);
      const answer = browser.state();
      await until('the sign-in waits for the change', 5_000, async () => {
        const rows = await harness.database.query('SELECT FROM pg_locks WHERE NOT granted');
        return rows.length > 0;
      });
      return { answer };
    });
    expect([(await state.answer).status, browser.cookie]).toEqual([401, undefined]);
    await root.delete(`members/${id}`);
  });

  it.each<[string, () => Promise<PhoneBrowser>]>([
    ['of nobody', () => Promise.resolve(members.stranger())],
    [
      'of a member who is not active',
      async () => {
        const { id, browser } = await members.add();
        await root.patch(`members/${id}`, { active: false });
        return browser;
      },
    ],
    [
      'of a member of an account that is not active',
      async () => {
        const account = idOf(await root.post('accounts', { name: 'Closed' }));
        const { browser } = await members.add('developer', account);
        await root.patch(`accounts/${account}`, { active: false });
        return browser;
      },
    ],
    [
      'of an owner of the installation',
      async () => {
        const browser = members.stranger();
        await root.post('members', { name: 'Owner', role: 'owner', phone: browser.phone, email: 'o@example.com' });
        return browser;
      },
    ],
  ])('A39 a number %s gets no code, and its own approval opens nothing', async (_, browserOf) => {
    const browser = await begun(await browserOf());
    expect((await browser.sendCode()).status).toBe(202);
    expect(await browser.sendSms()).toBe('matched');
    expect([(await browser.state()).status, browser.cookie]).toEqual([401, undefined]);
    expect(await browser.codes()).toEqual([]);
  });

  it('A39 the SMS of another phone approves nothing', async () => {
    const browser = await memberBrowser();
    expect(await browser.sendSms('+442071838750')).toBe('wrong_sender');
    expect((await browser.state()).json['state']).toBe('pending');
  });

  it.each([
    ['none', undefined],
    ['a guess', 'A'.repeat(43)],
    ['of another form', "' OR 1=1"],
    ['of much text', 'A'.repeat(4_000)],
  ])('A39 a browser with %s for a cookie finishes no sign-in', async (_, cookie) => {
    const browser = await memberBrowser();
    await browser.sendSms();
    const thief = new PhoneBrowser(harness, browser.phone);
    if (cookie !== undefined) thief.signInCookie = cookie;
    const answers = [await thief.state(), await thief.check('000000'), await thief.sendCode()];
    expect(answers.map(({ status }) => status)).toEqual([401, 422, 202]);
    expect(thief.cookie).toBeUndefined();
    expect((await browser.state()).json['state']).toBe('approved');
  });

  it('A39 a browser with its own sign-in of the same phone does not get that of another', async () => {
    const browser = await memberBrowser();
    const thief = await begun(new PhoneBrowser(harness, browser.phone));
    const swapped = await begun(new PhoneBrowser(harness, browser.phone));
    await swapped.sendSms();
    expect((await thief.state()).json['state']).toBe('pending');
    expect((await browser.state()).json['state']).toBe('pending');
    expect((await swapped.state()).json['state']).toBe('approved');
  });

  it('A39 the row of another browser’s session is refused by its challenge', async () => {
    const [victim, thief] = [await memberBrowser(), await memberBrowser()];
    const { id } = await victim.session();
    await harness.database.query('UPDATE console_sign_ins SET session_id = $1 WHERE session_id = $2', [
      id,
      (await thief.session()).id,
    ]);
    await victim.sendSms();
    expect((await thief.state()).status).toBe(401);
    expect((await victim.state()).json['state']).toBe('approved');
  });

  it('A39 an approval opens one session, however often and at once it is used', async () => {
    const browser = await memberBrowser();
    const cookie = browser.signInCookie;
    await browser.sendSms();
    const copies = Array.from({ length: 8 }, () => {
      const copy = new PhoneBrowser(harness, browser.phone);
      copy.signInCookie = cookie;
      return copy;
    });
    const answers = await Promise.all(copies.map((copy) => copy.state()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 401)]);
    expect(copies.filter((copy) => copy.cookie !== undefined)).toHaveLength(1);
    browser.signInCookie = cookie;
    expect((await browser.state()).status).toBe(401);
  });

  it('A39 a code is not guessed: the sixth check is refused, at once or one after the other', async () => {
    const browser = await memberBrowser();
    await browser.sendCode();
    await until('the code is queued', 5_000, async () => (await browser.codes()).length > 0);
    const [code = ''] = await browser.codes();
    const guesses = Array.from({ length: 20 }, (_, at) => String(at).padStart(6, '0')).filter(
      (guess) => guess !== code,
    );
    const answers = await Promise.all(guesses.map((guess) => browser.check(guess)));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
    expect((await browser.check(code)).code).toBe('INVALID_CODE');
    const { id } = await browser.session();
    const [row] = await harness.database.query<{ tries: number }>(
      'SELECT otp_attempts AS tries FROM sessions WHERE id = $1',
      [id],
    );
    expect(row?.tries).toBe(5);
  });

  it('A39 a planted cookie of a session is never the one of the sign-in (fixation)', async () => {
    const planted = await memberBrowser();
    await planted.sendSms();
    await planted.state();
    const victim = await memberBrowser();
    victim.cookie = planted.cookie;
    await victim.sendSms();
    await victim.state();
    expect(victim.cookie).not.toBe(planted.cookie);
    expect((await planted.call('me')).status).toBe(401);
  });

  it('A39 a page of another site begins and checks nothing', async () => {
    const browser = members.stranger();
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await browser.begin({ headers });
      expect([answer.status, answer.headers['set-cookie']]).toEqual([403, undefined]);
    }
  });

  it('A39 sign-ins that others begin and never end do not keep the codes of a member back', async () => {
    const before = await memberBrowser();
    await before.sendCode();
    await until('the first code is queued', 5_000, async () => (await before.codes()).length > 0);
    await harness.database.query('UPDATE otp_sends SET sends = 5000 WHERE account_id = $1', [SIGN_IN_ACCOUNT_ID]);
    const browser = await memberBrowser();
    expect((await browser.sendCode()).status).toBe(202);
    await until('the code is queued', 5_000, async () => (await browser.codes()).length > 0);
  });

  it('A39 the overview does not count sign-ins', async () => {
    const created = async (): Promise<number> =>
      Number(Reflect.get(Object((await root.get('overview')).json['funnel']), 'created'));
    const before = await created();
    const browser = await memberBrowser();
    await browser.sendSms();
    await browser.state();
    expect(await created()).toBe(before);
    await harness.create();
    expect(await created()).toBe(before + 1);
  });

  it('A39 a member of an account has no role of the installation', async () => {
    const { browser } = await members.add('viewer');
    await begun(browser);
    await browser.sendSms();
    await browser.state();
    for (const path of ['v1/admin/accounts', 'v1/admin/members', 'v1/admin/sessions', 'v1/admin/audit'])
      expect((await browser.call(path)).code).toBe('FORBIDDEN');
  });

  it('A39 the account of the verifications is nobody’s: hidden from engineers, with no key, brand or member', async () => {
    const browser = await memberBrowser();
    await browser.sendCode();
    await until('the code is queued', 5_000, async () => (await browser.codes()).length > 0);
    await browser.sendSms();
    const [account, brand] = [renderId('acct', SIGN_IN_ACCOUNT_ID), renderId('brd', SIGN_IN_BRAND_ID)];
    const session = renderId('sess', (await browser.session()).id);
    for (const list of ['accounts', 'brands', 'sessions', 'messages', `sessions?id=${session}`])
      expect((await root.get(list)).text).not.toMatch(new RegExp(`${account}|${brand}|${session}`));
    for (const path of [
      `accounts/${account}`,
      `brands/${brand}`,
      `sessions/${session}`,
      `sessions/${session}/timeline`,
    ])
      expect([path, (await root.get(path)).code]).toEqual([path, 'NOT_FOUND']);
    const drafts = {
      keys: { name: 'Own', kind: 'live' },
      brands: { name: 'Own', slug: 'OWN', instruction: 'Send this message.' },
      members: { name: 'Own', role: 'developer', phone: '+14155558123' },
    };
    for (const [resource, draft] of Object.entries(drafts)) {
      const answer = await root.post(resource, { ...draft, accountId: account });
      expect([resource, answer.code, answer.field]).toEqual([resource, 'VALIDATION_ERROR', 'accountId']);
    }
    expect((await root.patch(`accounts/${account}`, { active: false })).code).toBe('NOT_FOUND');
    for (const path of [session, ''])
      expect((await harness.call(`/v1/verify/${path}`)).text).not.toContain(browser.phone);
  });
});
