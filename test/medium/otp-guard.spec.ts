import { renderId } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { GuardStore } from '../../apps/control-plane/src/guard/guard.store.js';
import { callerOf, GuardHarness, numberOf, sentOf, times } from '../support/guard-harness.js';
import type { SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let fixture: GuardHarness;
let harness: SessionHarness;

beforeAll(async () => {
  fixture = await GuardHarness.open();
  harness = fixture.harness;
});
afterAll(() => fixture.close());
beforeEach(() => fixture.reset());

describe('SMS pumping of one block of numbers, at an account whose other sends convert', () => {
  // 20 phones of another block give 80 credits: the budget alone would allow 105 codes.
  beforeEach(() => fixture.approvePhones(times(20, (at) => numberOf(at, '+1212555'))));

  it('is stopped after 50 messages, also when several processes send concurrently', async () => {
    const outcomes = await fixture.sendAll(
      [fixture.sender(), fixture.sender(), fixture.sender()],
      times(100, numberOf),
    );
    expect(sentOf(outcomes)).toBe(50);
    expect(new Set(outcomes)).toEqual(new Set(['sent', 'DESTINATION_BLOCKED']));
    expect(await fixture.messageCount()).toBe(50);
    expect(fixture.notifiedIds).toHaveLength(50);
    const { data } = await fixture.destinations.list(harness.database, { limit: 10 });
    expect(data).toMatchObject([
      { accountId: harness.account.id, prefix: '+1415555', action: 'block', origin: 'guard', strikes: 0 },
    ]);
    expect(await fixture.refusalsByRule()).toEqual({ breaker: 50 });
  });

  it('stays blocked for an hour; other numbers, known phones and other accounts are not affected', async () => {
    const service = fixture.sender();
    await fixture.sendAll([service], times(51, numberOf));
    expect(await fixture.sendAll([service], [numberOf(60), numberOf(1, '+1415556')])).toEqual([
      'DESTINATION_BLOCKED',
      'sent',
    ]);
    await fixture.approvePhones([numberOf(62)]);
    expect(await fixture.sendAll([service], [numberOf(62)])).toEqual(['sent']);
    const accountId = await fixture.createOtherAccount();
    expect(await fixture.sendAll([service], [numberOf(61)], { accountId })).toEqual(['sent']);
  });

  it('stays blocked when an admin rule allows the prefix', async () => {
    await fixture.destinations.create(harness.database, {
      prefix: '+1415555',
      action: 'allow',
      reason: 'a campaign that we know',
    });
    expect(sentOf(await fixture.sendAll([fixture.sender()], times(60, numberOf)))).toBe(50);
  });

  it('is blocked for longer when it begins again after the hour', async () => {
    const service = fixture.sender();
    await fixture.sendAll([service], times(51, numberOf));
    await harness.database.query(`UPDATE destination_rules SET until = clock_timestamp() - interval '1 second'`);
    expect(await fixture.sendAll([service], [numberOf(70)])).toEqual(['DESTINATION_BLOCKED']);
    const { data } = await fixture.destinations.list(harness.database, { limit: 10 });
    expect(data).toMatchObject([{ strikes: 1 }]);
    expect((data[0]?.until?.getTime() ?? 0) - harness.clock.nowMs()).toBeGreaterThan(3.9 * 3_600_000);
  });
});

describe('the messages of one day', () => {
  it('are at most the account’s cap, including those to known phones', async () => {
    await harness.database.query('UPDATE accounts SET otp_daily_message_cap = 7');
    const outcomes = await fixture.sendAll([fixture.sender(), fixture.sender()], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(7);
    expect(await fixture.messageCount()).toBe(7);
    expect(await fixture.refusalsByRule()).toEqual({ daily_messages: 13 });
  });
});

describe('limits under concurrency', () => {
  it('allow 5 codes an hour from one account to one phone, and 10 from all accounts', async () => {
    await fixture.raiseFloor(1_000);
    const accounts = [harness.account.id, await fixture.createOtherAccount(), await fixture.createOtherAccount()];
    const phones = times(12, () => numberOf(1));
    const outcomes: string[][] = [];
    for (const accountId of accounts)
      outcomes.push(await fixture.sendAll([fixture.sender(), fixture.sender()], phones, { accountId }));
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

  it('allow exactly the daily spend cap of an account', async () => {
    await harness.database.query(
      `INSERT INTO prices (id, channel, country, usd, from_at)
       VALUES ($1, 'sms_otp', '*', 9, '2020-01-01'), ($2, 'sms_otp', 'US', 9, '2020-01-01'),
         ($3, 'sms_otp', 'US', 0.01, '2021-01-01'), ($4, 'sms_otp', 'US', 9, '2999-01-01')`,
      times(4, () => harness.clock.newId()),
    );
    await harness.database.query('UPDATE accounts SET otp_daily_spend_cap_usd = 0.06');
    const outcomes = await fixture.sendAll([fixture.sender(), fixture.sender()], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(6);
    expect(await harness.database.query('SELECT usd::text FROM otp_spend')).toEqual([{ usd: '0.060000' }]);
    expect(await fixture.refusalsByRule()).toEqual({ daily_spend: 14 });
  });

  it('allow 3 codes in one session', async () => {
    const { id, accountId } = await fixture.openSession();
    const services = [fixture.sender(), fixture.sender()];
    const sent: boolean[] = [];
    for (let round = 0; round < 4; round++) {
      await harness.database.query(`UPDATE sessions SET otp_sent_at = otp_sent_at - interval '31 seconds'`);
      const outcomes = services.map((each) => each.sendCode(callerOf(accountId), renderId('sess', id)));
      sent.push((await Promise.all(outcomes)).some(({ ok }) => ok));
      expect(await fixture.messageCount()).toBe(Math.min(round + 1, 3));
    }
    expect(sent).toEqual([true, true, true, false]);
  });
});

describe('a send that is repeated with the id of its message', () => {
  it('gets the same answer and is sent once', async () => {
    const { id, accountId } = await fixture.openSession();
    const messageId = harness.clock.newId();
    const services = [fixture.sender(), fixture.sender(), fixture.sender()];
    const answers = await Promise.all(
      services.map((each) => each.sendCode(callerOf(accountId), renderId('sess', id), messageId)),
    );
    await harness.sessions.cancel(liveTenant(accountId), id);
    answers.push(await fixture.sender().sendCode(callerOf(accountId), renderId('sess', id), messageId));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(await harness.database.query('SELECT id FROM outbound_messages')).toEqual([{ id: messageId }]);
    const [session] = await harness.database.query('SELECT otp_sends AS sends FROM sessions WHERE id = $1', [id]);
    expect(session).toEqual({ sends: 1 });
  });

  it('is not found by another account', async () => {
    const one = await fixture.openSession();
    const messageId = harness.clock.newId();
    await fixture.sender().sendCode(callerOf(one.accountId), renderId('sess', one.id), messageId);
    const foreign = await fixture
      .sender()
      .sendCode(callerOf(await fixture.createOtherAccount()), renderId('sess', one.id), messageId);
    expect(foreign).toMatchObject({ ok: false, refusal: { code: 'SESSION_NOT_FOUND' } });
  });
});

describe('the stored counters of sends', () => {
  it('contain no phone number', async () => {
    const phone = numberOf(4711);
    await fixture.sendAll([fixture.sender()], [phone]);
    await fixture.approvePhones([phone]);
    await harness.database.query('UPDATE accounts SET otp_daily_message_cap = 1');
    await fixture.sendAll([fixture.sender()], [phone]);
    for (const table of ['otp_counters', 'otp_sends', 'otp_approvals', 'otp_phones', 'otp_refusals', 'otp_spend']) {
      const [row] = await harness.database.query<{ text: string }>(
        `SELECT json_agg(${table})::text AS text FROM ${table}`,
      );
      expect(row?.text).not.toContain(phone.slice(1));
    }
  });

  it('are deleted when their window is over', async () => {
    await fixture.sendAll([fixture.sender()], [numberOf(1)]);
    await harness.database.query(`UPDATE otp_counters SET ends_at = started_at WHERE scope <> 'phone-day'`);
    await harness.database.query(`UPDATE otp_sends SET until = slot WHERE scope <> 'day'`);
    await harness.database.query(`UPDATE otp_spend SET day = day - 31`);
    const monthAgo = new Date(harness.clock.nowMs() - 30 * 86_400_000);
    expect(await new GuardStore(fixture.destinations, harness.keys).purge(harness.database, monthAgo)).toBe(false);
    expect(await harness.database.query('SELECT scope FROM otp_counters')).toEqual([{ scope: 'phone-day' }]);
    expect(await harness.database.query('SELECT scope FROM otp_sends')).toEqual([{ scope: 'day' }]);
    expect(await harness.database.query('SELECT 1 FROM otp_spend')).toEqual([]);
  });

  it('of approvals and their phones are deleted when no budget counts them, some at a time', async () => {
    const approvals = new ApprovalStore(harness.keys);
    const phones = times(3, numberOf);
    await fixture.approvePhones(phones);
    const nowMs = harness.clock.nowMs();
    expect(await approvals.purge(harness.database, nowMs, 10)).toBe(false);
    const rows = async (table: string): Promise<number> =>
      (await harness.database.query(`SELECT 1 FROM ${table}`)).length;
    expect(await rows('otp_phones')).toBe(3);
    expect(await rows('otp_approvals')).toBeGreaterThan(0);
    await harness.database.query(`UPDATE otp_phones SET credited_on = credited_on - 31`);
    await harness.database.query(`UPDATE otp_approvals SET until = now() - interval '1 second'`);
    expect(await approvals.purge(harness.database, nowMs, 2)).toBe(true);
    expect(await rows('otp_phones')).toBe(1);
    while (await approvals.purge(harness.database, nowMs, 2));
    expect([await rows('otp_phones'), await rows('otp_approvals')]).toEqual([0, 0]);
  });
});
