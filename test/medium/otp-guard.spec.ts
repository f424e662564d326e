import type { ApiKeyPrincipal } from '@countersign/accounts';
import { CarrierStore, DestinationStore, OutboundLookup, OutboundStore } from '@countersign/carriers';
import { newId, renderId, type Uuid } from '@countersign/postgres';
import type { CreateSession } from '@countersign/session';
import type { OtpLimits } from '@countersign/settings';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CodeOutbox } from '../../apps/control-plane/src/otp/code.outbox.js';
import { GuardStore } from '../../apps/control-plane/src/otp/guard.store.js';
import { SendCodeService } from '../../apps/control-plane/src/otp/send-code.service.js';
import { GuardOptions, SendGuard } from '../../apps/control-plane/src/otp/send-guard.js';
import { openSessionRoom, type SessionRoom } from '../support/session-room.js';
import { liveTenant } from '../support/tenants.js';

const LIMITS: OtpLimits = {
  phonePerHour: 5,
  phonePerDay: 10,
  prefixPerHour: 200,
  countryPerHour: 2_000,
  accountPerHour: 5_000,
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
    'otp_refusals',
    'otp_spend',
    'destination_rules',
    'prices',
  ]) {
    await room.database.query(`DELETE FROM ${table}`);
  }
  await room.database.query(`UPDATE accounts SET otp_countries = '{*}', otp_daily_spend_cap_usd = NULL`);
});

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
  const { data } = await destinations.listRefusals(room.database, { limit: 100 });
  return Object.fromEntries(data.map(({ rule, refused }) => [rule, refused]));
};

const approveAll = (): Promise<object[]> =>
  room.database.query(
    `UPDATE sessions SET status = 'approved', approved_by = 'otp', ended_at = clock_timestamp() WHERE status = 'pending'`,
  );

async function otherAccount(): Promise<Uuid> {
  const { account } = await room.accounts.createAccount(room.database, { name: 'Other' });
  await room.database.query(`UPDATE accounts SET otp_countries = '{*}'`);
  return account.id;
}

describe('a pumping run through one block of numbers', () => {
  it('is stopped after 50 messages, however many processes send at the same time', async () => {
    const outcomes = await sendAll([sender(), sender(), sender()], times(150, numberOf));
    expect(sentOf(outcomes)).toBe(50);
    expect(new Set(outcomes)).toEqual(new Set(['sent', 'DESTINATION_BLOCKED']));
    expect(await countMessages()).toBe(50);
    expect(rung).toHaveLength(50);
    const { data } = await destinations.list(room.database, { limit: 10 });
    expect(data).toMatchObject([
      { accountId: room.account.id, prefix: '+1415555', action: 'block', origin: 'guard', strikes: 0 },
    ]);
    expect(await tallies()).toEqual({ breaker: 100 });
  });

  it('stays blocked for its hour, while the account’s other numbers and other accounts are not concerned', async () => {
    const service = sender();
    await sendAll([service], times(51, numberOf));
    expect(await sendAll([service], [numberOf(60), numberOf(1, '+1415556')])).toEqual(['DESTINATION_BLOCKED', 'sent']);
    const accountId = await otherAccount();
    expect(await sendAll([service], [numberOf(61)], { accountId })).toEqual(['sent']);
  });

  it('goes on where an admin allows the prefix', async () => {
    await destinations.create(room.database, {
      prefix: '+1415555',
      action: 'allow',
      reason: 'a campaign that we know',
    });
    expect(sentOf(await sendAll([sender()], times(60, numberOf)))).toBe(60);
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

describe('honest traffic to one block of numbers', () => {
  it('is not stopped: a fifth of its sessions is approved', async () => {
    const service = sender();
    await sendAll([service], times(15, numberOf));
    await approveAll();
    expect(
      sentOf(
        await sendAll(
          [service],
          times(45, (at) => numberOf(at + 15)),
        ),
      ),
    ).toBe(45);
    expect(await tallies()).toEqual({});
  });
});

describe('limits under concurrency', () => {
  it('5 codes an hour to one phone, over accounts and processes', async () => {
    const accountId = await otherAccount();
    const phones = times(12, () => numberOf(1));
    const outcomes = await Promise.all([
      sendAll([sender(), sender()], phones),
      sendAll([sender(), sender()], phones, { accountId }),
    ]);
    expect(sentOf(outcomes.flat())).toBe(5);
    expect(new Set(outcomes.flat())).toEqual(new Set(['sent', 'SEND_LIMIT_REACHED']));
    const counted = await room.database.query(
      `SELECT scope, sends FROM otp_counters WHERE scope LIKE 'phone%' ORDER BY scope`,
    );
    expect(counted).toEqual([
      { scope: 'phone-day', sends: 5 },
      { scope: 'phone-hour', sends: 5 },
    ]);
  });

  it.each<readonly [string, Partial<OtpLimits>, string]>([
    ['an account', { accountPerHour: 7 }, 'account_velocity'],
    ['a country', { countryPerHour: 7 }, 'country_velocity'],
    ['codes that are not used, to a block of numbers', { prefixPerHour: 7 }, 'prefix_velocity'],
  ])('an hour of %s', async (_, limits, rule) => {
    const outcomes = await sendAll([sender(limits), sender(limits)], times(20, numberOf));
    expect(sentOf(outcomes)).toBe(7);
    expect(await countMessages()).toBe(7);
    expect(await tallies()).toEqual({ [rule]: 13 });
  });

  it('an hour of codes, one of which took up the id of an attempt five minutes before it', async () => {
    const { id, accountId } = await opened({ phone: numberOf(1) });
    const minutesAgo = (minutes: number): number => room.clock.nowMs() - minutes * 60_000;
    await sender().send(callerOf(accountId), renderId('sess', id), newId(minutesAgo(64)));
    await room.database.query('UPDATE outbound_messages SET created_at = $1', [new Date(minutesAgo(59))]);
    expect(await sendAll([sender({ prefixPerHour: 1 })], [numberOf(2)])).toEqual(['DESTINATION_BLOCKED']);
    expect(await tallies()).toEqual({ prefix_velocity: 1 });
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
    await sendAll([sender({ accountPerHour: 1 })], [phone]);
    for (const table of ['otp_counters', 'otp_refusals', 'otp_spend']) {
      const [row] = await room.database.query<{ text: string }>(
        `SELECT json_agg(${table})::text AS text FROM ${table}`,
      );
      expect(row?.text).not.toContain(phone.slice(1));
    }
  });

  it('is forgotten when its window is over', async () => {
    await sendAll([sender()], [numberOf(1)]);
    await room.database.query(`UPDATE otp_counters SET ends_at = started_at WHERE scope <> 'phone-day'`);
    await room.database.query(`UPDATE otp_spend SET day = day - 31`);
    const monthAgo = new Date(room.clock.nowMs() - 30 * 86_400_000);
    expect(await new GuardStore(destinations, room.keys).purge(room.database, monthAgo)).toBe(false);
    expect(await room.database.query('SELECT scope FROM otp_counters')).toEqual([{ scope: 'phone-day' }]);
    expect(await room.database.query('SELECT 1 FROM otp_spend')).toEqual([]);
  });
});
