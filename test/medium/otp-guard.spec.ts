import { renderId } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GuardStore } from '../../apps/control-plane/src/guard/guard.store.js';
import { callerOf, GuardHarness, numberOf, sentOf, times } from '../support/guard-harness.js';
import type { SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let home: GuardHarness;
let harness: SessionHarness;

beforeAll(async () => {
  home = await GuardHarness.open();
  harness = home.harness;
});
afterAll(() => home.close());
beforeEach(() => home.forget());

describe('a pumping run through one block of numbers of an account that converts', () => {
  // 20 phones of another block earn 80 credits: the budget alone would let 105 codes through.
  beforeEach(() => home.approvePhones(times(20, (at) => numberOf(at, '+1212555'))));

  it('is stopped after 50 messages, however many processes send at the same time', async () => {
    const outcomes = await home.sendAll([home.sender(), home.sender(), home.sender()], times(100, numberOf));
    expect(sentOf(outcomes)).toBe(50);
    expect(new Set(outcomes)).toEqual(new Set(['sent', 'DESTINATION_BLOCKED']));
    expect(await home.countMessages()).toBe(50);
    expect(home.wokenIds).toHaveLength(50);
    const { data } = await home.destinations.list(harness.database, { limit: 10 });
    expect(data).toMatchObject([
      { accountId: harness.account.id, prefix: '+1415555', action: 'block', origin: 'guard', strikes: 0 },
    ]);
    expect(await home.tallies()).toEqual({ breaker: 50 });
  });

  it('stays blocked for its hour, while other numbers, known phones and other accounts are not concerned', async () => {
    const service = home.sender();
    await home.sendAll([service], times(51, numberOf));
    expect(await home.sendAll([service], [numberOf(60), numberOf(1, '+1415556')])).toEqual([
      'DESTINATION_BLOCKED',
      'sent',
    ]);
    await home.approvePhones([numberOf(62)]);
    expect(await home.sendAll([service], [numberOf(62)])).toEqual(['sent']);
    const accountId = await home.otherAccount();
    expect(await home.sendAll([service], [numberOf(61)], { accountId })).toEqual(['sent']);
  });

  it('is not let through by a rule that allows the prefix', async () => {
    await home.destinations.create(harness.database, {
      prefix: '+1415555',
      action: 'allow',
      reason: 'a campaign that we know',
    });
    expect(sentOf(await home.sendAll([home.sender()], times(60, numberOf)))).toBe(50);
  });

  it('that begins again after the hour is blocked for longer', async () => {
    const service = home.sender();
    await home.sendAll([service], times(51, numberOf));
    await harness.database.query(`UPDATE destination_rules SET until = clock_timestamp() - interval '1 second'`);
    expect(await home.sendAll([service], [numberOf(70)])).toEqual(['DESTINATION_BLOCKED']);
    const { data } = await home.destinations.list(harness.database, { limit: 10 });
    expect(data).toMatchObject([{ strikes: 1 }]);
    expect((data[0]?.until?.getTime() ?? 0) - harness.clock.nowMs()).toBeGreaterThan(3.9 * 3_600_000);
  });
});

describe('messages of a day', () => {
  it('are at most the account’s cap, to known phones too', async () => {
    await harness.database.query('UPDATE accounts SET otp_daily_message_cap = 7');
    const outcomes = await home.sendAll([home.sender(), home.sender()], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(7);
    expect(await home.countMessages()).toBe(7);
    expect(await home.tallies()).toEqual({ daily_messages: 13 });
  });
});

describe('limits under concurrency', () => {
  it('5 codes an hour to one phone of one account, 10 of all accounts', async () => {
    await home.raiseFloor(1_000);
    const accounts = [harness.account.id, await home.otherAccount(), await home.otherAccount()];
    const phones = times(12, () => numberOf(1));
    const outcomes: string[][] = [];
    for (const accountId of accounts)
      outcomes.push(await home.sendAll([home.sender(), home.sender()], phones, { accountId }));
    expect(outcomes.map(sentOf)).toEqual([5, 5, 0]);
    expect(new Set(outcomes.flat())).toEqual(new Set(['sent', 'SEND_LIMIT_REACHED']));
    const counted = await harness.database.query(
      `SELECT scope, sum(sends)::int AS sends FROM otp_counters WHERE scope LIKE '%phone%' GROUP BY scope ORDER BY scope`,
    );
    expect(counted).toEqual([
      { scope: 'account-phone-day', sends: 10 },
      { scope: 'account-phone-hour', sends: 10 },
      { scope: 'phone-day', sends: 10 },
      { scope: 'phone-hour', sends: 10 },
    ]);
  });

  it('what an account may spend in a day, to the last cent', async () => {
    await harness.database.query(
      `INSERT INTO prices (id, channel, country, usd, from_at)
       VALUES ($1, 'sms_otp', '*', 9, '2020-01-01'), ($2, 'sms_otp', 'US', 9, '2020-01-01'),
         ($3, 'sms_otp', 'US', 0.01, '2021-01-01'), ($4, 'sms_otp', 'US', 9, '2999-01-01')`,
      times(4, () => harness.clock.newId()),
    );
    await harness.database.query('UPDATE accounts SET otp_daily_spend_cap_usd = 0.06');
    const outcomes = await home.sendAll([home.sender(), home.sender()], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(6);
    expect(await harness.database.query('SELECT usd::text FROM otp_spend')).toEqual([{ usd: '0.060000' }]);
    expect(await home.tallies()).toEqual({ daily_spend: 14 });
  });

  it('3 codes in one session', async () => {
    const { id, accountId } = await home.opened();
    const services = [home.sender(), home.sender()];
    const sent: boolean[] = [];
    for (let round = 0; round < 4; round++) {
      await harness.database.query(`UPDATE sessions SET otp_sent_at = otp_sent_at - interval '31 seconds'`);
      const outcomes = services.map((each) => each.send(callerOf(accountId), renderId('sess', id)));
      sent.push((await Promise.all(outcomes)).some(({ ok }) => ok));
      expect(await home.countMessages()).toBe(Math.min(round + 1, 3));
    }
    expect(sent).toEqual([true, true, true, false]);
  });
});

describe('a send that is asked for again with the id of its message', () => {
  it('is answered alike, and sent once', async () => {
    const { id, accountId } = await home.opened();
    const messageId = harness.clock.newId();
    const services = [home.sender(), home.sender(), home.sender()];
    const answers = await Promise.all(
      services.map((each) => each.send(callerOf(accountId), renderId('sess', id), messageId)),
    );
    await harness.sessions.cancel(liveTenant(accountId), id);
    answers.push(await home.sender().send(callerOf(accountId), renderId('sess', id), messageId));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(await harness.database.query('SELECT id FROM outbound_messages')).toEqual([{ id: messageId }]);
    const [session] = await harness.database.query('SELECT otp_sends AS sends FROM sessions WHERE id = $1', [id]);
    expect(session).toEqual({ sends: 1 });
  });

  it('is not found by another session or account', async () => {
    const one = await home.opened();
    const messageId = harness.clock.newId();
    await home.sender().send(callerOf(one.accountId), renderId('sess', one.id), messageId);
    const foreign = await home.sender().send(callerOf(await home.otherAccount()), renderId('sess', one.id), messageId);
    expect(foreign).toMatchObject({ ok: false, refusal: { code: 'SESSION_NOT_FOUND' } });
  });
});

describe('what is kept of sends', () => {
  it('holds neither code nor phone, but where a message is to go', async () => {
    const phone = numberOf(4711);
    await home.sendAll([home.sender()], [phone]);
    await home.approvePhones([phone]);
    await harness.database.query('UPDATE accounts SET otp_daily_message_cap = 1');
    await home.sendAll([home.sender()], [phone]);
    for (const table of ['otp_counters', 'otp_sends', 'otp_approvals', 'otp_phones', 'otp_refusals', 'otp_spend']) {
      const [row] = await harness.database.query<{ text: string }>(
        `SELECT json_agg(${table})::text AS text FROM ${table}`,
      );
      expect(row?.text).not.toContain(phone.slice(1));
    }
  });

  it('is forgotten when its window is over', async () => {
    await home.sendAll([home.sender()], [numberOf(1)]);
    await harness.database.query(`UPDATE otp_counters SET ends_at = started_at WHERE scope <> 'phone-day'`);
    await harness.database.query(`UPDATE otp_sends SET until = slot WHERE scope <> 'day'`);
    await harness.database.query(`UPDATE otp_spend SET day = day - 31`);
    const monthAgo = new Date(harness.clock.nowMs() - 30 * 86_400_000);
    expect(await new GuardStore(home.destinations, harness.keys).purge(harness.database, monthAgo)).toBe(false);
    expect(await harness.database.query('SELECT scope FROM otp_counters')).toEqual([{ scope: 'phone-day' }]);
    expect(await harness.database.query('SELECT scope FROM otp_sends')).toEqual([{ scope: 'day' }]);
    expect(await harness.database.query('SELECT 1 FROM otp_spend')).toEqual([]);
  });
});
