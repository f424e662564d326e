import type { ApiKeyPrincipal } from '@countersign/accounts';
import { EventStore } from '@countersign/events';
import { CarrierStore, DestinationStore, OutboundLookup, OutboundStore } from '@countersign/carriers';
import { renderId, type Uuid } from '@countersign/postgres';
import type { CreateSession } from '@countersign/session';
import type { OtpLimits } from '@countersign/settings';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApprovalStore } from '../../apps/control-plane/src/otp/approval.store.js';
import { CodeOutbox } from '../../apps/control-plane/src/otp/code.outbox.js';
import { GuardStore } from '../../apps/control-plane/src/otp/guard.store.js';
import { SendCodeService } from '../../apps/control-plane/src/otp/send-code.service.js';
import { GuardOptions, SendGuard } from '../../apps/control-plane/src/otp/send-guard.js';
import { openSessionRoom, type SessionRoom } from '../support/session-room.js';
import { liveTenant } from '../support/tenants.js';

const LIMITS: OtpLimits = {
  phonePerHour: 5,
  phonePerDay: 10,
  breakerSends: 50,
  breakerPercent: 20,
  breakerBlockSeconds: 3_600,
};

let room: SessionRoom;
let destinations: DestinationStore;
let rung: Uuid[] = [];
const errors: unknown[] = [];

beforeAll(async () => {
  room = await openSessionRoom({ poolMax: 12, pastDays: 1 });
  const newId = (): Uuid => room.clock.newId();
  destinations = new DestinationStore(newId);
  const carriers = new CarrierStore({ keys: room.keys, newId });
  const hosts = [{ host: '127.0.0.1', port: 1 }];
  const bind = await carriers.createBind(room.database, {
    name: 'out',
    carrier: 'out',
    hosts,
    systemId: 'out',
    password: 'secret',
  });
  await carriers.createRoute(room.database, { prefix: '+', bindId: bind.id });
});
afterAll(async () => {
  await room.close();
  expect(errors).toEqual([]);
});

beforeEach(async () => {
  rung = [];
  for (const table of [
    'outbound_messages',
    'otp_counters',
    'otp_sends',
    'otp_approvals',
    'otp_phones',
    'otp_refusals',
    'otp_spend',
    'destination_rules',
    'prices',
  ]) {
    await room.database.query(`DELETE FROM ${table}`);
  }
  await room.database.query(
    `UPDATE accounts SET otp_countries = '{*}', otp_daily_spend_cap_usd = NULL, otp_daily_message_cap = 1000,
       otp_unconverted_floor = 50`,
  );
  await room.database.query(`UPDATE events SET dispatched_at = clock_timestamp() WHERE dispatched_at IS NULL`);
});

/** Raises the floor of all accounts. */
const raiseFloor = (floor: number): Promise<object[]> =>
  room.database.query('UPDATE accounts SET otp_unconverted_floor = $1', [floor]);

/** Approves sessions by their SMS, and counts the approvals as the dispatcher of events does. */
async function approve(ids: readonly Uuid[]): Promise<void> {
  const phones = new Map((await room.sessions.findMany(room.database, ids)).map(({ id, phone }) => [id, phone]));
  const evidence = ids.map((id, ref) => ({
    ref,
    tokens: [room.tokenOf(id)],
    senders: [phones.get(id) ?? ''],
    trusted: true,
  }));
  await room.database.transaction((tx) => room.sessions.matchInbound(tx, evidence));
  await countApprovals();
}

async function countApprovals(): Promise<void> {
  const events = new EventStore();
  await room.database.transaction(async (tx) => {
    await new ApprovalStore(room.keys).count(tx, await events.takeUndispatched(tx, 1_000));
  });
}

/** Sessions of these phones, approved without a code. */
async function approvePhones(phones: readonly string[], changes: Partial<CreateSession> = {}): Promise<void> {
  const sessions = await Promise.all(phones.map((phone) => opened({ phone, ...changes })));
  await approve(sessions.map(({ id }) => id));
}

/** What sends codes in one process; two of them share nothing but the database. */
function sender(changes: Partial<OtpLimits> = {}): SendCodeService {
  const { database, clock, keys, sessions } = room;
  const store = new GuardStore(destinations, keys);
  const fail = (error: unknown): void => void errors.push(error);
  const options = new GuardOptions({ ...LIMITS, ...changes }, () => undefined, fail);
  const outbox = new CodeOutbox({
    clock,
    keys,
    store: new OutboundStore(),
    lookup: new OutboundLookup(),
    wake: (ids) => void rung.push(...ids),
    wakeTest: () => undefined,
    tell: () => undefined,
  });
  return new SendCodeService(database, sessions, new SendGuard(store, destinations, database, options), outbox);
}

const callerOf = (accountId: Uuid): ApiKeyPrincipal => ({
  keyId: accountId,
  kind: 'live',
  tenant: liveTenant(accountId),
  scopes: ['otp'],
  limits: {},
});

/** A number of a block, `+1415555` by default. */
const numberOf = (at: number, block = '+1415555'): string => `${block}${String(at).padStart(4, '0')}`;

async function opened(changes: Partial<CreateSession> = {}): Promise<{ id: Uuid; accountId: Uuid }> {
  return room.sessions.create(room.draft(changes));
}

/** Opens a session for every phone and has a code sent to it by one of the services in turn; what became of each. */
async function sendAll(
  services: readonly SendCodeService[],
  phones: readonly string[],
  changes: Partial<CreateSession> = {},
): Promise<string[]> {
  const sessions = await Promise.all(phones.map((phone) => opened({ phone, ...changes })));
  return Promise.all(
    sessions.map(async ({ id, accountId }, at) => {
      const service = services[at % services.length] ?? sender();
      const outcome = await service.send(callerOf(accountId), renderId('sess', id));
      return outcome.ok ? 'sent' : outcome.refusal.code;
    }),
  );
}

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const sentOf = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'sent').length;

async function countMessages(): Promise<number> {
  const [row] = await room.database.query<{ count: number }>('SELECT count(*)::int AS count FROM outbound_messages');
  return row?.count ?? 0;
}

const tallies = async (): Promise<Record<string, number>> => {
  const { data } = await destinations.listRefusals(room.database, { limit: 1_000 });
  const sums = new Map<string, number>();
  for (const { rule, refused } of data) sums.set(rule, (sums.get(rule) ?? 0) + refused);
  return Object.fromEntries(sums);
};

async function otherAccount(): Promise<Uuid> {
  const { account } = await room.accounts.createAccount(room.database, { name: 'Other' });
  await room.database.query(`UPDATE accounts SET otp_countries = '{*}'`);
  return account.id;
}

describe('a pumping run through one block of numbers of an account that converts', () => {
  // 20 phones of another block earn 80 credits: the budget alone would let 105 codes through.
  beforeEach(() => approvePhones(times(20, (at) => numberOf(at, '+1212555'))));

  it('is stopped after 50 messages, however many processes send at the same time', async () => {
    const outcomes = await sendAll([sender(), sender(), sender()], times(100, numberOf));
    expect(sentOf(outcomes)).toBe(50);
    expect(new Set(outcomes)).toEqual(new Set(['sent', 'DESTINATION_BLOCKED']));
    expect(await countMessages()).toBe(50);
    expect(rung).toHaveLength(50);
    const { data } = await destinations.list(room.database, { limit: 10 });
    expect(data).toMatchObject([
      { accountId: room.account.id, prefix: '+1415555', action: 'block', origin: 'guard', strikes: 0 },
    ]);
    expect(await tallies()).toEqual({ breaker: 50 });
  });

  it('stays blocked for its hour, while other numbers, known phones and other accounts are not concerned', async () => {
    const service = sender();
    await sendAll([service], times(51, numberOf));
    expect(await sendAll([service], [numberOf(60), numberOf(1, '+1415556')])).toEqual(['DESTINATION_BLOCKED', 'sent']);
    await approvePhones([numberOf(62)]);
    expect(await sendAll([service], [numberOf(62)])).toEqual(['sent']);
    const accountId = await otherAccount();
    expect(await sendAll([service], [numberOf(61)], { accountId })).toEqual(['sent']);
  });

  it('is not let through by a rule that allows the prefix', async () => {
    await destinations.create(room.database, {
      prefix: '+1415555',
      action: 'allow',
      reason: 'a campaign that we know',
    });
    expect(sentOf(await sendAll([sender()], times(60, numberOf)))).toBe(50);
  });

  it('that begins again after the hour is blocked for longer', async () => {
    const service = sender();
    await sendAll([service], times(51, numberOf));
    await room.database.query(`UPDATE destination_rules SET until = clock_timestamp() - interval '1 second'`);
    expect(await sendAll([service], [numberOf(70)])).toEqual(['DESTINATION_BLOCKED']);
    const { data } = await destinations.list(room.database, { limit: 10 });
    expect(data).toMatchObject([{ strikes: 1 }]);
    expect((data[0]?.until?.getTime() ?? 0) - room.clock.nowMs()).toBeGreaterThan(3.9 * 3_600_000);
  });
});

describe('the conversion budget', () => {
  /** Numbers of as many blocks. */
  const spread = (count: number): string[] => times(count, (at) => `+1415${2_000_000 + at * 10_007}`);
  const british = (count: number): string[] => times(count, (at) => `+447400${String(at * 10_007).padStart(6, '0')}`);

  it('stops a run over many blocks: 14 blocks of 49 numbers, none of which converts', async () => {
    const phones = times(14 * 49, (at) => numberOf(at % 49, `+1415${200 + Math.floor(at / 49)}`));
    const outcomes = await sendAll([sender(), sender()], phones);
    expect(sentOf(outcomes)).toBe(25);
    expect(await tallies()).toEqual({ budget_country: 14 * 49 - 25 });
  });

  it('stops a run over countries, however many processes send at the same time', async () => {
    const us = sendAll([sender(), sender()], spread(40));
    const gb = sendAll([sender(), sender()], british(40), { country: 'GB' });
    const outcomes = (await Promise.all([us, gb])).flat();
    expect(sentOf(outcomes)).toBe(50);
    const { budget_account: account = 0, budget_country: country = 0 } = await tallies();
    expect(account + country).toBe(30);
  });

  it('lets through a phone that approved within 30 days, and stops it after that', async () => {
    const [known = ''] = spread(100).slice(-1);
    await approvePhones([known]);
    await room.database.query('DELETE FROM otp_approvals');
    await sendAll([sender()], spread(60));
    expect(await sendAll([sender()], [known])).toEqual(['sent']);
    await room.database.query(`UPDATE otp_phones SET credited_on = credited_on - 29`);
    expect(await sendAll([sender()], [known])).toEqual(['sent']);
    await room.database.query(`UPDATE otp_phones SET credited_on = credited_on - 2`);
    expect(await sendAll([sender()], [known])).toEqual(['DESTINATION_BLOCKED']);
  });

  it('an approval settles the sends of its session and earns 4 credits, for a phone once a day', async () => {
    await raiseFloor(2);
    const [phone = '', ...others] = spread(20);
    const first = await opened({ phone });
    const service = sender();
    const send = async (id: Uuid): Promise<boolean> =>
      (await service.send(callerOf(room.account.id), renderId('sess', id))).ok;
    expect(await send(first.id)).toBe(true);
    expect(sentOf(await sendAll([service], others.slice(0, 2)))).toBe(0);
    await approve([first.id]);
    // The country's half of the floor, and 4 credits.
    expect(sentOf(await sendAll([service], others.slice(0, 10)))).toBe(5);
    await approvePhones([phone]);
    expect(sentOf(await sendAll([service], others.slice(10)))).toBe(0);
    expect(
      await room.database.query(`SELECT scope, sum(settled)::int AS settled, sum(approvals)::int AS approvals
        FROM otp_approvals GROUP BY scope ORDER BY scope COLLATE "C"`),
    ).toEqual([
      { scope: '*', settled: 1, approvals: 1 },
      { scope: phone.slice(0, -4), settled: 1, approvals: 1 },
      { scope: 'US', settled: 1, approvals: 1 },
      { scope: 'day', settled: 1, approvals: 1 },
    ]);
  });

  it('lets through a block of numbers that converts, up to 20 %', async () => {
    await raiseFloor(0);
    const block = '+1646555';
    await approvePhones(times(2, (at) => numberOf(at, '+1212555')));
    const sessions = await Promise.all(times(1, () => opened({ phone: numberOf(1, block) })));
    for (const { id, accountId } of sessions) await sender().send(callerOf(accountId), renderId('sess', id));
    await approve(sessions.map(({ id }) => id));
    await room.database.query(`UPDATE otp_approvals SET approvals = 0 WHERE scope NOT LIKE '+%'`);
    const outcomes: string[] = [];
    for (const at of [10, 11, 12, 13, 14, 15]) outcomes.push(...(await sendAll([sender()], [numberOf(at, block)])));
    expect(outcomes).toEqual(['sent', 'sent', 'sent', 'sent', 'sent', 'DESTINATION_BLOCKED']);
  });

  it('forgets sends and credits of more than an hour ago, not those of the day', async () => {
    await sendAll([sender()], spread(30));
    expect(await sendAll([sender()], ['+14159990001'])).toEqual(['DESTINATION_BLOCKED']);
    await room.database.query(`UPDATE otp_sends SET slot = slot - interval '62 minutes' WHERE scope <> 'day'`);
    expect(sentOf(await sendAll([sender()], spread(60).slice(30)))).toBe(25);
    await room.database.query(`UPDATE otp_sends SET slot = slot - interval '3 hours' WHERE scope <> 'day'`);
    expect(sentOf(await sendAll([sender()], british(40), { country: 'GB' }))).toBe(10);
    expect(await tallies()).toMatchObject({ budget_day: 30 });
  });

  it('is each account’s own', async () => {
    await sendAll([sender()], spread(30));
    const accountId = await otherAccount();
    expect(sentOf(await sendAll([sender()], spread(30), { accountId }))).toBe(25);
  });

  it('knows nothing of test sessions', async () => {
    const { id, accountId } = await opened({ test: true });
    await sender().send({ ...callerOf(accountId), kind: 'test' }, renderId('sess', id));
    await room.database.query(
      `UPDATE sessions SET status = 'approved', approved_by = 'otp', ended_at = clock_timestamp() WHERE id = $1`,
      [id],
    );
    const event = { id: room.clock.newId(), type: 'verification.completed' as const, accountId, sessionId: id };
    const told = { occurredAt: new Date(), data: '{}', sessionWebhookUrl: null };
    await new EventStore().append(room.database, [{ ...event, ...told }]);
    await countApprovals();
    for (const table of ['otp_sends', 'otp_approvals', 'otp_phones', 'otp_counters', 'otp_spend']) {
      expect(await room.database.query(`SELECT 1 FROM ${table}`)).toEqual([]);
    }
  });

  it('counts an approval once, however many processes take its event', async () => {
    const phones = spread(8);
    const sessions = await Promise.all(phones.map((phone) => opened({ phone })));
    const evidence = sessions.map(({ id }, ref) => ({
      ...{ ref, tokens: [room.tokenOf(id)], trusted: true },
      senders: [phones[ref] ?? ''],
    }));
    await room.database.transaction((tx) => room.sessions.matchInbound(tx, evidence));
    await Promise.all([countApprovals(), countApprovals(), countApprovals()]);
    const counted = await room.database.query(
      `SELECT sum(approvals)::int AS approvals FROM otp_approvals WHERE scope = '*'`,
    );
    expect(counted).toEqual([{ approvals: 8 }]);
  });
});

describe('messages of a day', () => {
  it('are at most the account’s cap, to known phones too', async () => {
    await room.database.query('UPDATE accounts SET otp_daily_message_cap = 7');
    const outcomes = await sendAll([sender(), sender()], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(7);
    expect(await countMessages()).toBe(7);
    expect(await tallies()).toEqual({ daily_messages: 13 });
  });
});

describe('limits under concurrency', () => {
  it('5 codes an hour to one phone of one account, 10 of all accounts', async () => {
    await raiseFloor(1_000);
    const accounts = [room.account.id, await otherAccount(), await otherAccount()];
    const phones = times(12, () => numberOf(1));
    const outcomes: string[][] = [];
    for (const accountId of accounts) outcomes.push(await sendAll([sender(), sender()], phones, { accountId }));
    expect(outcomes.map(sentOf)).toEqual([5, 5, 0]);
    expect(new Set(outcomes.flat())).toEqual(new Set(['sent', 'SEND_LIMIT_REACHED']));
    const counted = await room.database.query(
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
    await room.database.query(
      `INSERT INTO prices (id, channel, country, usd, from_at)
       VALUES ($1, 'sms_otp', '*', 9, '2020-01-01'), ($2, 'sms_otp', 'US', 9, '2020-01-01'),
         ($3, 'sms_otp', 'US', 0.01, '2021-01-01'), ($4, 'sms_otp', 'US', 9, '2999-01-01')`,
      times(4, () => room.clock.newId()),
    );
    await room.database.query('UPDATE accounts SET otp_daily_spend_cap_usd = 0.06');
    const outcomes = await sendAll([sender(), sender()], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(6);
    expect(await room.database.query('SELECT usd::text FROM otp_spend')).toEqual([{ usd: '0.060000' }]);
    expect(await tallies()).toEqual({ daily_spend: 14 });
  });

  it('3 codes in one session', async () => {
    const { id, accountId } = await opened();
    const services = [sender(), sender()];
    const sent: boolean[] = [];
    for (let round = 0; round < 4; round++) {
      await room.database.query(`UPDATE sessions SET otp_sent_at = otp_sent_at - interval '31 seconds'`);
      const outcomes = services.map((each) => each.send(callerOf(accountId), renderId('sess', id)));
      sent.push((await Promise.all(outcomes)).some(({ ok }) => ok));
      expect(await countMessages()).toBe(Math.min(round + 1, 3));
    }
    expect(sent).toEqual([true, true, true, false]);
  });
});

describe('a send that is asked for again with the id of its message', () => {
  it('is answered alike, and sent once', async () => {
    const { id, accountId } = await opened();
    const messageId = room.clock.newId();
    const services = [sender(), sender(), sender()];
    const answers = await Promise.all(
      services.map((each) => each.send(callerOf(accountId), renderId('sess', id), messageId)),
    );
    await room.sessions.cancel(liveTenant(accountId), id);
    answers.push(await sender().send(callerOf(accountId), renderId('sess', id), messageId));
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(await room.database.query('SELECT id FROM outbound_messages')).toEqual([{ id: messageId }]);
    const [session] = await room.database.query('SELECT otp_sends AS sends FROM sessions WHERE id = $1', [id]);
    expect(session).toEqual({ sends: 1 });
  });

  it('is not found by another session or account', async () => {
    const one = await opened();
    const messageId = room.clock.newId();
    await sender().send(callerOf(one.accountId), renderId('sess', one.id), messageId);
    const foreign = await sender().send(callerOf(await otherAccount()), renderId('sess', one.id), messageId);
    expect(foreign).toMatchObject({ ok: false, refusal: { code: 'SESSION_NOT_FOUND' } });
  });
});

describe('what is kept of sends', () => {
  it('holds neither code nor phone, but where a message is to go', async () => {
    const phone = numberOf(4711);
    await sendAll([sender()], [phone]);
    await approvePhones([phone]);
    await room.database.query('UPDATE accounts SET otp_daily_message_cap = 1');
    await sendAll([sender()], [phone]);
    for (const table of ['otp_counters', 'otp_sends', 'otp_approvals', 'otp_phones', 'otp_refusals', 'otp_spend']) {
      const [row] = await room.database.query<{ text: string }>(
        `SELECT json_agg(${table})::text AS text FROM ${table}`,
      );
      expect(row?.text).not.toContain(phone.slice(1));
    }
  });

  it('is forgotten when its window is over', async () => {
    await sendAll([sender()], [numberOf(1)]);
    await room.database.query(`UPDATE otp_counters SET ends_at = started_at WHERE scope <> 'phone-day'`);
    await room.database.query(`UPDATE otp_sends SET until = slot WHERE scope <> 'day'`);
    await room.database.query(`UPDATE otp_spend SET day = day - 31`);
    const monthAgo = new Date(room.clock.nowMs() - 30 * 86_400_000);
    expect(await new GuardStore(destinations, room.keys).purge(room.database, monthAgo)).toBe(false);
    expect(await room.database.query('SELECT scope FROM otp_counters')).toEqual([{ scope: 'phone-day' }]);
    expect(await room.database.query('SELECT scope FROM otp_sends')).toEqual([{ scope: 'day' }]);
    expect(await room.database.query('SELECT 1 FROM otp_spend')).toEqual([]);
  });
});
