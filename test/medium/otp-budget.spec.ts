import { EventStore } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Send } from '../../apps/control-plane/src/guard/guard.store.js';
import { callerOf, GuardHarness, numberOf, sentOf, times } from '../support/guard-harness.js';
import type { SessionHarness } from '../support/session-harness.js';
import { testTenant } from '../support/tenants.js';

let home: GuardHarness;
let harness: SessionHarness;

beforeAll(async () => {
  home = await GuardHarness.open();
  harness = home.harness;
});
afterAll(() => home.close());
beforeEach(() => home.forget());

describe('the conversion budget', () => {
  /** Numbers of as many blocks. */
  const spread = (count: number): string[] => times(count, (at) => `+1415${2_000_000 + at * 10_007}`);
  const british = (count: number): string[] => times(count, (at) => `+447400${String(at * 10_007).padStart(6, '0')}`);

  it('stops a run over many blocks: 14 blocks of 49 numbers, none of which converts', async () => {
    const phones = times(14 * 49, (at) => numberOf(at % 49, `+1415${200 + Math.floor(at / 49)}`));
    const outcomes = await home.sendAll([home.sender(), home.sender()], phones);
    expect(sentOf(outcomes)).toBe(25);
    expect(await home.tallies()).toEqual({ budget_country: 14 * 49 - 25 });
  });

  it('stops a run over countries, however many processes send at the same time', async () => {
    const us = home.sendAll([home.sender(), home.sender()], spread(40));
    const gb = home.sendAll([home.sender(), home.sender()], british(40), { country: 'GB' });
    const outcomes = (await Promise.all([us, gb])).flat();
    expect(sentOf(outcomes)).toBe(50);
    const { budget_account: account = 0, budget_country: country = 0 } = await home.tallies();
    expect(account + country).toBe(30);
  });

  it('lets through a phone that approved within 30 days, and stops it after that', async () => {
    const [known = ''] = spread(100).slice(-1);
    await home.approvePhones([known]);
    await harness.database.query('DELETE FROM otp_approvals');
    await home.sendAll([home.sender()], spread(60));
    expect(await home.sendAll([home.sender()], [known])).toEqual(['sent']);
    await harness.database.query(`UPDATE otp_phones SET credited_on = credited_on - 29`);
    expect(await home.sendAll([home.sender()], [known])).toEqual(['sent']);
    await harness.database.query(`UPDATE otp_phones SET credited_on = credited_on - 2`);
    expect(await home.sendAll([home.sender()], [known])).toEqual(['DESTINATION_BLOCKED']);
  });

  it('an approval settles the sends of its session and earns 4 credits, for a phone once a day', async () => {
    await home.raiseFloor(2);
    const [phone = '', ...others] = spread(20);
    const first = await home.opened({ phone });
    const service = home.sender();
    const send = async (id: Uuid): Promise<boolean> =>
      (await service.send(callerOf(harness.account.id), renderId('sess', id))).ok;
    expect(await send(first.id)).toBe(true);
    expect(sentOf(await home.sendAll([service], others.slice(0, 2)))).toBe(0);
    await home.approve([first.id]);
    // The country's half of the floor, and 4 credits.
    expect(sentOf(await home.sendAll([service], others.slice(0, 10)))).toBe(5);
    await home.approvePhones([phone]);
    expect(sentOf(await home.sendAll([service], others.slice(10)))).toBe(0);
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

  it('of a used-up day refuses sends of that day, even in one batch with sends of the next day', async () => {
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
    const guard = home.guard();
    await harness.database.transaction(async (tx) => {
      const together = await guard.open(tx, [before, after]);
      expect(together.judge(before)).toMatchObject({ rule: 'budget_day' });
    });
    await harness.database.transaction(async (tx) => {
      expect((await guard.open(tx, [after])).judge(after)).toBeNull();
    });
  });

  it('lets through a block of numbers that converts, up to 20 %', async () => {
    await home.raiseFloor(0);
    const block = '+1646555';
    await home.approvePhones(times(2, (at) => numberOf(at, '+1212555')));
    const { id, accountId } = await home.opened({ phone: numberOf(1, block) });
    await home.sender().send(callerOf(accountId), renderId('sess', id));
    await home.approve([id]);
    await harness.database.query(`UPDATE otp_approvals SET approvals = 0 WHERE scope NOT LIKE '+%'`);
    const outcomes: string[] = [];
    for (const at of [10, 11, 12, 13, 14, 15])
      outcomes.push(...(await home.sendAll([home.sender()], [numberOf(at, block)])));
    expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'DESTINATION_BLOCKED']);
  });

  it('forgets sends and credits of more than an hour ago, not those of the day', async () => {
    await home.sendAll([home.sender()], spread(30));
    expect(await home.sendAll([home.sender()], ['+14159990001'])).toEqual(['DESTINATION_BLOCKED']);
    await harness.database.query(`UPDATE otp_sends SET slot = slot - interval '62 minutes' WHERE scope <> 'day'`);
    expect(sentOf(await home.sendAll([home.sender()], spread(60).slice(30)))).toBe(25);
    await harness.database.query(`UPDATE otp_sends SET slot = slot - interval '3 hours' WHERE scope <> 'day'`);
    expect(sentOf(await home.sendAll([home.sender()], british(40), { country: 'GB' }))).toBe(10);
    expect(await home.tallies()).toMatchObject({ budget_day: 30 });
  });

  it('is each account’s own', async () => {
    await home.sendAll([home.sender()], spread(30));
    const accountId = await home.otherAccount();
    expect(sentOf(await home.sendAll([home.sender()], spread(30), { accountId }))).toBe(25);
  });

  it('does not count test sessions', async () => {
    const { id, accountId } = await home.opened({ test: true });
    const caller = { ...callerOf(accountId), kind: 'test' as const, tenant: testTenant(accountId) };
    expect(await home.sender().send(caller, renderId('sess', id))).toMatchObject({ ok: true });
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
    await home.countApprovals();
    for (const table of ['otp_sends', 'otp_approvals', 'otp_phones', 'otp_counters', 'otp_spend']) {
      expect(await harness.database.query(`SELECT 1 FROM ${table}`)).toEqual([]);
    }
  });

  it('counts an approval once, however many processes take its event', async () => {
    const phones = spread(8);
    const sessions = await Promise.all(phones.map((phone) => home.opened({ phone })));
    const evidence = sessions.map(({ id }, ref) => ({
      ...{ ref, tokens: [harness.tokenOf(id)], trusted: true },
      senders: [phones[ref] ?? ''],
    }));
    await harness.database.transaction((tx) => harness.sessions.matchInbound(tx, 'live', evidence));
    await Promise.all([home.countApprovals(), home.countApprovals(), home.countApprovals()]);
    const counted = await harness.database.query(
      `SELECT sum(approvals)::int AS approvals FROM otp_approvals WHERE scope = '*'`,
    );
    expect(counted).toEqual([{ approvals: 8 }]);
  });
});
