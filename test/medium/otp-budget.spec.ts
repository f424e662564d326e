import { EventStore } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Send } from '../../apps/control-plane/src/guard/guard.store.js';
import { callerOf, GuardHarness, numberOf, sentOf, times } from '../support/guard-harness.js';
import type { SessionHarness } from '../support/session-harness.js';
import { testTenant } from '../support/tenants.js';

let fixture: GuardHarness;
let harness: SessionHarness;

beforeAll(async () => {
  fixture = await GuardHarness.open();
  harness = fixture.harness;
});
afterAll(() => fixture.close());
beforeEach(() => fixture.reset());

describe('the conversion budget', () => {
  /** Numbers that are all in different blocks. */
  const spread = (count: number): string[] => times(count, (at) => `+1415${2_000_000 + at * 10_007}`);
  const british = (count: number): string[] => times(count, (at) => `+447400${String(at * 10_007).padStart(6, '0')}`);

  it('stops sends over many blocks: 14 blocks of 49 numbers, none of which converts', async () => {
    const phones = times(14 * 49, (at) => numberOf(at % 49, `+1415${200 + Math.floor(at / 49)}`));
    const outcomes = await fixture.sendAll([fixture.sender(), fixture.sender()], phones);
    expect(sentOf(outcomes)).toBe(25);
    expect(await fixture.refusalsByRule()).toEqual({ budget_country: 14 * 49 - 25 });
  });

  it('stops sends over two countries, also when several processes send concurrently', async () => {
    const us = fixture.sendAll([fixture.sender(), fixture.sender()], spread(40));
    const gb = fixture.sendAll([fixture.sender(), fixture.sender()], british(40), { country: 'GB' });
    const outcomes = (await Promise.all([us, gb])).flat();
    expect(sentOf(outcomes)).toBe(50);
    const { budget_account: account = 0, budget_country: country = 0 } = await fixture.refusalsByRule();
    expect(account + country).toBe(30);
  });

  it('allows sends to a phone that approved within 30 days, and refuses them after that', async () => {
    const [known = ''] = spread(100).slice(-1);
    await fixture.approvePhones([known]);
    await harness.database.query('DELETE FROM otp_approvals');
    await fixture.sendAll([fixture.sender()], spread(60));
    expect(await fixture.sendAll([fixture.sender()], [known])).toEqual(['sent']);
    await harness.database.query(`UPDATE otp_phones SET credited_on = credited_on - 29`);
    expect(await fixture.sendAll([fixture.sender()], [known])).toEqual(['sent']);
    await harness.database.query(`UPDATE otp_phones SET credited_on = credited_on - 2`);
    expect(await fixture.sendAll([fixture.sender()], [known])).toEqual(['DESTINATION_BLOCKED']);
  });

  it('counts the sends of an approved session as converted, and gives 4 credits per phone and day', async () => {
    await fixture.raiseFloor(2);
    const [phone = '', ...others] = spread(20);
    const first = await fixture.openSession({ phone });
    const service = fixture.sender();
    const send = async (id: Uuid): Promise<boolean> =>
      (await service.sendCode(callerOf(harness.account.id), renderId('sess', id))).ok;
    expect(await send(first.id)).toBe(true);
    expect(sentOf(await fixture.sendAll([service], others.slice(0, 2)))).toBe(0);
    await fixture.approve([first.id]);
    // Half of the floor for the country, and 4 credits.
    expect(sentOf(await fixture.sendAll([service], others.slice(0, 10)))).toBe(5);
    await fixture.approvePhones([phone]);
    expect(sentOf(await fixture.sendAll([service], others.slice(10)))).toBe(0);
    expect(
      await harness.database.query(`SELECT scope, sum(settled)::int AS settled, sum(approvals)::int AS approvals
        FROM otp_approvals GROUP BY scope ORDER BY scope COLLATE "C"`),
    ).toEqual([
      { scope: '*', settled: 1, approvals: 1 },
      { scope: phone.slice(0, -4), settled: 1, approvals: 1 },
      { scope: 'US', settled: 1, approvals: 1 },
      { scope: 'day', settled: 1, approvals: 1 },
    ]);
  });

  it('refuses sends of a day whose budget is used up, also in one batch with sends of the next day', async () => {
    const midnight = Date.parse('2026-03-02T00:00:00.000Z');
    await harness.database.query(
      `INSERT INTO otp_sends (account_id, scope, slot, until, sends) VALUES ($1, 'day', $2, $3, 60)`,
      [harness.account.id, new Date(midnight - 86_400_000), new Date(midnight + 86_400_000)],
    );
    const send = (phone: string, atMs: number): Send => ({
      session: { accountId: harness.account.id, phone, country: 'US' },
      now: new Date(atMs),
    });
    const [late = '', early = ''] = spread(2);
    const [before, after] = [send(late, midnight - 1), send(early, midnight + 1)];
    const guard = fixture.guard();
    await harness.database.transaction(async (tx) => {
      const together = await guard.openSends(tx, [before, after]);
      expect(together.checkSend(before)).toMatchObject({ rule: 'budget_day' });
    });
    await harness.database.transaction(async (tx) => {
      expect((await guard.openSends(tx, [after])).checkSend(after)).toBeNull();
    });
  });

  it('allows sends to a block of numbers while at least 20 % of them convert', async () => {
    await fixture.raiseFloor(0);
    const block = '+1646555';
    await fixture.approvePhones(times(2, (at) => numberOf(at, '+1212555')));
    const { id, accountId } = await fixture.openSession({ phone: numberOf(1, block) });
    await fixture.sender().sendCode(callerOf(accountId), renderId('sess', id));
    await fixture.approve([id]);
    await harness.database.query(`UPDATE otp_approvals SET approvals = 0 WHERE scope NOT LIKE '+%'`);
    const outcomes: string[] = [];
    for (const at of [10, 11, 12, 13, 14, 15])
      outcomes.push(...(await fixture.sendAll([fixture.sender()], [numberOf(at, block)])));
    expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'DESTINATION_BLOCKED']);
  });

  it('drops sends and credits after an hour from the hourly windows, not from the day', async () => {
    await fixture.sendAll([fixture.sender()], spread(30));
    expect(await fixture.sendAll([fixture.sender()], ['+14159990001'])).toEqual(['DESTINATION_BLOCKED']);
    await harness.database.query(`UPDATE otp_sends SET slot = slot - interval '62 minutes' WHERE scope <> 'day'`);
    expect(sentOf(await fixture.sendAll([fixture.sender()], spread(60).slice(30)))).toBe(25);
    await harness.database.query(`UPDATE otp_sends SET slot = slot - interval '3 hours' WHERE scope <> 'day'`);
    expect(sentOf(await fixture.sendAll([fixture.sender()], british(40), { country: 'GB' }))).toBe(10);
    expect(await fixture.refusalsByRule()).toMatchObject({ budget_day: 30 });
  });

  it('is separate for each account', async () => {
    await fixture.sendAll([fixture.sender()], spread(30));
    const accountId = await fixture.createOtherAccount();
    expect(sentOf(await fixture.sendAll([fixture.sender()], spread(30), { accountId }))).toBe(25);
  });

  it('does not count test sessions', async () => {
    const { id, accountId } = await fixture.openSession({ test: true });
    const caller = { ...callerOf(accountId), kind: 'test' as const, tenant: testTenant(accountId) };
    expect(await fixture.sender().sendCode(caller, renderId('sess', id))).toMatchObject({ ok: true });
    await harness.database.query(
      `UPDATE sessions SET status = 'approved', approved_by = 'otp', ended_at = clock_timestamp() WHERE id = $1`,
      [id],
    );
    const event = {
      id: harness.clock.newId(),
      type: 'verification.completed' as const,
      accountId,
      test: true,
      sessionId: id,
    };
    const details = { occurredAt: new Date(), data: '{}', sessionWebhookUrl: null };
    await new EventStore().append(harness.database, [{ ...event, ...details }]);
    await fixture.countApprovals();
    for (const table of ['otp_sends', 'otp_approvals', 'otp_phones', 'otp_counters', 'otp_spend']) {
      expect(await harness.database.query(`SELECT 1 FROM ${table}`)).toEqual([]);
    }
  });

  it('counts an approval once when several processes dispatch its event', async () => {
    const phones = spread(8);
    const sessions = await Promise.all(phones.map((phone) => fixture.openSession({ phone })));
    const evidence = sessions.map(({ id }, ref) => ({
      ...{ ref, tokens: [harness.tokenOf(id)], trusted: true },
      senders: [phones[ref] ?? ''],
    }));
    await harness.database.transaction((tx) => harness.sessions.matchInbound(tx, 'live', evidence));
    await Promise.all([fixture.countApprovals(), fixture.countApprovals(), fixture.countApprovals()]);
    const counted = await harness.database.query(
      `SELECT sum(approvals)::int AS approvals FROM otp_approvals WHERE scope = '*'`,
    );
    expect(counted).toEqual([{ approvals: 8 }]);
  });
});
