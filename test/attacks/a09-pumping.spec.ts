import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import type { Answer, Call } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';

/** The default of a new account (contract, Guard). */
const DEFAULT_FLOOR = 50;
const MAX_LEAK = 60;
/** Area codes of the North American plan. */
const AREAS = [201, 202, 203, 205, 206, 207, 208, 209, 210, 213, 214, 215, 216, 217];
/** Concurrent attempts. */
const WIDTH = 40;

let home: OtpHarness;
let admin: AdminCalls;
let neighbour: { readonly baseUrl: string; readonly stop: () => Promise<void> };

beforeAll(async () => {
  home = await OtpHarness.open();
  admin = new AdminCalls(home.harness);
  neighbour = await home.harness.neighbour();
});
afterAll(async () => {
  await neighbour.stop();
  await home.close();
});
beforeEach(() => home.forget());

/** Opens a session for each phone and requests a code, at two control planes in turn; returns the answers in order. */
async function sendTo(phones: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let from = 0; from < phones.length; from += WIDTH) {
    const some = phones.slice(from, from + WIDTH).map(async (phone, at) => {
      const call: Call = at % 2 === 0 ? {} : { baseUrl: neighbour.baseUrl };
      return home.sendWithRetry(await home.created({ phone, channel: 'sms_fallback' }, call), call);
    });
    answers.push(...(await Promise.all(some)));
  }
  return answers;
}

const sentOf = (answers: readonly Answer[]): number => answers.filter(({ status }) => status === 200).length;
const codesOf = (answers: readonly Answer[]): Set<string | undefined> => new Set(answers.map(({ code }) => code));
/** Numbers of a block of 10,000. */
const numbers = (block: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${block}${String(at).padStart(4, '0')}`);

async function queued(): Promise<number> {
  const [row] = await home.harness.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM outbound_messages',
  );
  return row?.count ?? 0;
}

const account = (changes: Readonly<Record<string, unknown>>): Promise<Answer> =>
  admin.patch(`accounts/${home.harness.demo.accountId}`, changes);

describe('A9 sending codes for the fee of the network', () => {
  it.each([
    '+449098790879',
    '+491805123456',
    '+447012345678',
    '+18002345678',
    '+448001234567',
    '+445512345678',
    '+80012345678',
    '+8816123456789',
    '+979123456789',
  ])('A9 to %s, a number with a special tariff, no code is sent', async (phone) => {
    expect(codesOf(await sendTo([phone]))).toEqual(new Set(['DESTINATION_BLOCKED']));
    expect(await queued()).toBe(0);
  });

  it('A9 to a country that the account does not send to, no code is sent; in production a new account has none', async () => {
    await account({ otpCountries: ['US'] });
    expect(codesOf(await sendTo(numbers('+44791112', 20)))).toEqual(new Set(['DESTINATION_BLOCKED']));
    const production = await home.harness.neighbour({ NODE_ENV: 'production' });
    try {
      const made = await home.harness.call('/v1/admin/accounts', {
        method: 'POST',
        key: admin.key,
        baseUrl: production.baseUrl,
        body: { name: 'New' },
      });
      expect(made.json).toMatchObject({ otpCountries: [], otpDailyMessageCap: 1_000, otpUnconvertedFloor: 50 });
    } finally {
      await production.stop();
    }
  });

  it('A9 the cap of a day holds to the last message, while 80 sessions ask at the same time', async () => {
    await account({ otpDailyMessageCap: 7 });
    const phones = Array.from({ length: 80 }, (_, at) => `+1${String(212 + (at % 8))}5552${String(100 + at)}`);
    const ids = await Promise.all(phones.map((phone) => home.created({ phone, channel: 'sms_fallback' })));
    const answers = await Promise.all(
      ids.map((id, at) => home.send(id, at % 2 === 0 ? {} : { baseUrl: neighbour.baseUrl })),
    );
    expect(sentOf(answers)).toBe(7);
    expect(await queued()).toBe(7);
  });

  it('A9 the spending cap holds to the cent, and sends nothing where there is no price', async () => {
    const { status, field } = await account({ otpDailySpendCapUsd: '0.05' });
    expect([status, field]).toEqual([422, 'otpDailySpendCapUsd']);
    const price = { channel: 'sms_otp', country: '*', usd: '0.01', from: '2020-01-01T00:00:00Z' };
    expect((await admin.post('prices', price)).status).toBe(201);
    expect((await account({ otpDailySpendCapUsd: '0.05' })).status).toBe(200);
    const phones = [...numbers('+1212555', 20), ...numbers('+44791112', 20)];
    expect(sentOf(await sendTo(phones))).toBe(5);
    await home.harness.database.query('DELETE FROM prices');
    await home.harness.database.query('DELETE FROM otp_spend');
    expect(sentOf(await sendTo(numbers('+1646555', 4)))).toBe(0);
  });

  it('A9 one session sends 3 codes, 30 s apart, and a retried request sends none again', async () => {
    const id = await home.created();
    const headers = { 'idempotency-key': 'pump' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => home.send(id)));
    expect(sentOf(answers)).toBe(1);
    for (let time = 0; time < 3; time += 1) {
      await home.letResend(id);
      await home.send(id, { headers });
    }
    expect(await home.codesOf(id)).toHaveLength(2);
    await home.letResend(id);
    expect((await home.send(id)).status).toBe(200);
    await home.letResend(id);
    expect((await home.send(id)).code).toBe('SEND_LIMIT_REACHED');
  });
});

describe('A10 pumping below the limits of detection', () => {
  it(`A10 14 blocks of 49 numbers, none of which converts: at most ${MAX_LEAK} codes leave`, async () => {
    await account({ otpUnconvertedFloor: DEFAULT_FLOOR });
    const blocks = AREAS.slice(0, 14).map((area) => `+1${area}555`);
    const answers = await sendTo(blocks.flatMap((block) => numbers(block, 49)));
    expect(sentOf(answers)).toBeGreaterThan(0);
    expect(sentOf(answers)).toBeLessThanOrEqual(MAX_LEAK);
    expect(await queued()).toBe(sentOf(answers));
    expect(codesOf(answers)).toEqual(new Set([undefined, 'DESTINATION_BLOCKED']));
  });

  it('A10 a pumper with phones of his own buys 4 codes elsewhere with each of them, once a day', async () => {
    await account({ otpUnconvertedFloor: DEFAULT_FLOOR });
    const { harness } = home;
    const own = numbers('+1917555', 3);
    for (const phone of [...own, ...own]) {
      const id = await home.created({ phone });
      await home.send(id);
      const [code = ''] = await home.codesOf(id);
      expect((await home.check(id, code)).status).toBe(200);
    }
    // The dispatcher of events counts approvals, after the commit.
    await expect
      .poll(async () => (await home.credits()).reduce((sum, { approvals }) => sum + approvals, 0), { timeout: 10_000 })
      .toBeGreaterThanOrEqual(own.length);
    const blocks = AREAS.slice(0, 6).map((area) => `+1${area}555`);
    const sent = sentOf(await sendTo(blocks.flatMap((block) => numbers(block, 30))));
    expect(sent).toBeLessThanOrEqual(MAX_LEAK + 4 * own.length);
    const keys = await harness.database.query(`SELECT 1 FROM outbound_messages`);
    expect(keys.length).toBe(sent + 2 * own.length);
  });
});
