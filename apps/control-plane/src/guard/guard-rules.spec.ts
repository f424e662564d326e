import type { DestinationRule } from '@countersign/carriers/destinations';
import type { OtpLimits } from '@countersign/settings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isGuessingSuspected,
  judgeDestination,
  judgeTraffic,
  type Balance,
  type CheckTally,
  type Destination,
  type Traffic,
} from './guard-rules.js';

const NOW = new Date('2024-05-01T12:00:00Z');
const SOON = new Date('2024-05-01T12:40:00Z');
const LATER = new Date('2024-05-01T12:50:00Z');
const TOMORROW = new Date('2024-05-02T11:00:00Z');

const rule = (changes: Partial<DestinationRule>): DestinationRule => ({
  id: '00000000-0000-0000-0000-000000000000',
  accountId: null,
  prefix: '+44',
  action: 'block',
  kinds: [],
  reason: 'test',
  origin: 'admin',
  until: null,
  strikes: 0,
  createdAt: NOW,
  ...changes,
});
const ACCOUNT = { accountId: '00000000-0000-0000-0000-000000000001' };
const ALLOW = { action: 'allow' } as const;
const GUARD = { ...ACCOUNT, origin: 'guard', prefix: '+4479111', until: SOON } as const;

const MOBILE: Destination = {
  assigned: true,
  restrictedKind: null,
  country: 'GB',
  countries: ['*'],
  rules: [],
  knownPhone: false,
};
const TOLL_FREE: Partial<Destination> = { restrictedKind: 'toll_free' };

describe('judgeDestination', () => {
  it.each<readonly [string, string | null, Partial<Destination>]>([
    ['a number of a country that the account sends to', null, {}],
    ['a country that the account lists', null, { countries: ['US', 'GB'] }],
    ['a country that is not listed', 'country', { countries: ['US'] }],
    ['an account without countries', 'country', { countries: [] }],
    ['a number of no country, at an account that lists one', 'country', { country: '001', countries: ['GB'] }],
    ['a number that is not assigned', 'number_type', { assigned: false }],
    [
      'a number that is not assigned, with an admin’s allow rule',
      'number_type',
      { assigned: false, rules: [rule(ALLOW)] },
    ],
    ['a toll-free number', 'number_type', TOLL_FREE],
    ['a toll-free number that an admin allows without its kind', 'number_type', { ...TOLL_FREE, rules: [rule(ALLOW)] }],
    [
      'a toll-free number that an admin allows with its kind',
      null,
      { ...TOLL_FREE, rules: [rule({ ...ALLOW, kinds: ['pager', 'toll_free'] })] },
    ],
    [
      'a toll-free number that an admin allows with another kind',
      'number_type',
      { ...TOLL_FREE, rules: [rule({ ...ALLOW, kinds: ['pager'] })] },
    ],
    [
      'a toll-free number with a longer block rule',
      'number_type',
      { ...TOLL_FREE, rules: [rule({ ...ALLOW, kinds: ['toll_free'] }), rule({ prefix: '+448' })] },
    ],
    ['a prefix that an admin blocks', 'destination_rule', { rules: [rule({})] }],
    ['a prefix that an admin allows, of a country that is not listed', null, { countries: [], rules: [rule(ALLOW)] }],
    ['a prefix that the guard blocks', 'breaker', { rules: [rule(GUARD)] }],
    ['a prefix that the guard blocks, and a known phone', null, { rules: [rule(GUARD)], knownPhone: true }],
    ['a prefix that the guard blocks and an admin allows', 'breaker', { rules: [rule(GUARD), rule(ALLOW)] }],
    [
      'a block rule within an allowed prefix: the longest prefix decides',
      'destination_rule',
      { rules: [rule(ALLOW), rule({ prefix: '+4479' })] },
    ],
    [
      'an allow rule within a blocked prefix',
      null,
      { rules: [rule({}), rule({ ...ALLOW, prefix: '+4479' }), rule({ prefix: '+447' })] },
    ],
    [
      'the account’s own rule before the common one of the same prefix',
      null,
      { rules: [rule({}), rule({ ...ALLOW, ...ACCOUNT })] },
    ],
    [
      'the account’s own block rule before a common allow rule of the same prefix',
      'destination_rule',
      { rules: [rule({ ...ACCOUNT }), rule(ALLOW)] },
    ],
    [
      'a longer common rule before the account’s own',
      'destination_rule',
      { rules: [rule({ ...ALLOW, ...ACCOUNT }), rule({ prefix: '+4479' })] },
    ],
  ])('%s', (_, expected, changes) => {
    expect(judgeDestination({ ...MOBILE, ...changes })?.rule ?? null).toBe(expected);
  });
});

const LIMITS: OtpLimits = {
  phonePerHour: 5,
  phonePerDay: 10,
  breakerSends: 50,
  breakerPercent: 20,
  breakerBlockSeconds: 3_600,
};
const counted = (sends: number, endsAt = SOON) => ({ sends, endsAt });
const phone = (hour: number, day = 1) => ({ hour: counted(hour), day: counted(day, TOMORROW) });
const balance = (unconverted: number, approvals = 0, converted = 0): Balance => ({
  sends: unconverted + converted,
  unconverted,
  approvals,
});
const QUIET: Traffic = {
  account: balance(0),
  country: balance(0),
  block: balance(0),
  day: balance(0),
  floor: 50,
  messageCap: 1_000,
  knownPhone: false,
  spend: 'within',
  phone: phone(1),
  phoneEverywhere: phone(1),
};

describe('judgeTraffic, for one more code', () => {
  const blocked = (by: string, trips = false) => ({ kind: 'blocked', rule: by, trips });
  const capped = (by: string, until: Date) => ({ kind: 'capped', rule: by, until });

  it.each<readonly [string, object | null, Partial<Traffic>]>([
    ['the first', null, {}],
    ['the 50th unconverted of an account in an hour', null, { account: balance(49) }],
    ['the 51st', blocked('budget_account'), { account: balance(50) }],
    ['the 51st, after one approval', null, { account: balance(50, 1) }],
    ['the 54th, after one approval', null, { account: balance(53, 1) }],
    ['the 55th, after one approval', blocked('budget_account'), { account: balance(54, 1) }],
    ['the 25th unconverted in one country in an hour', null, { country: balance(24) }],
    ['the 26th', blocked('budget_country'), { country: balance(25) }],
    ['the 26th, after an approval in that country', null, { country: balance(25, 1) }],
    ['the first of an odd half', blocked('budget_country'), { country: balance(1), floor: 3 }],
    ['the 60th unconverted on a day without approvals', null, { day: balance(59) }],
    ['the 61st', blocked('budget_day'), { day: balance(60) }],
    ['the 61st, after one approval on that day', null, { day: balance(60, 1) }],
    ['the 65th, after one approval on that day', blocked('budget_day'), { day: balance(64, 1) }],
    ['the 200th on a day, of an account with a floor of 200', null, { day: balance(199), floor: 200 }],
    ['the 201st on a day, of an account with a floor of 200', blocked('budget_day'), { day: balance(200), floor: 200 }],
    ['with a floor of 0', blocked('budget_account'), { floor: 0 }],
    ['with a used-up budget, to a known phone', null, { account: balance(500), knownPhone: true }],
    ['with a used-up budget, to a block that converts 20 %', null, { account: balance(500), block: balance(4, 1) }],
    [
      'with a used-up budget, to a block that converts less',
      blocked('budget_account'),
      { account: balance(500), block: balance(5, 1) },
    ],
    [
      'with a used-up budget, to a block whose approvals are all of one phone',
      blocked('budget_account'),
      { account: balance(500), block: balance(0, 0, 10) },
    ],
    ['the 1,000th message of a day', null, { day: balance(0, 999, 999) }],
    ['the 1,001st message of a day', blocked('daily_messages'), { day: balance(0, 1_000, 1_000) }],
    [
      'the 1,001st message of a day, to a known phone',
      blocked('daily_messages'),
      {
        day: balance(0, 1_000, 1_000),
        knownPhone: true,
      },
    ],
    ['without a price under a spend cap', blocked('no_price'), { spend: 'no_price' }],
    ['past the spend cap', blocked('daily_spend'), { spend: 'over' }],
    ['after 49 to a block, none of them used', null, { block: balance(49), account: balance(49), floor: 100 }],
    ['after 50 to a block, none of them used', blocked('breaker', true), { block: balance(50) }],
    ['after 50 to a block, 9 of them used', blocked('breaker', true), { block: balance(41, 9, 9) }],
    ['after 50 to a block, 10 of them used', null, { block: balance(40, 10, 10) }],
    ['after 50 to a block, of an account with a larger floor', null, { block: balance(50), floor: 100 }],
    ['after 50 to a block, to a known phone', null, { block: balance(50), knownPhone: true }],
    ['the 5th to a phone within an hour', null, { phone: phone(5) }],
    ['the 6th to a phone within an hour', capped('phone_hourly', SOON), { phone: phone(6) }],
    ['the 10th to a phone within a day', null, { phone: phone(1, 10) }],
    ['the 11th to a phone within a day', capped('phone_daily', TOMORROW), { phone: phone(1, 11) }],
    ['the 10th to a phone within an hour, of all accounts', null, { phoneEverywhere: phone(10) }],
    [
      'the 11th to a phone within an hour, of all accounts',
      capped('phone_hourly', SOON),
      { phoneEverywhere: phone(11) },
    ],
    ['the 20th to a phone within a day, of all accounts', null, { phoneEverywhere: phone(1, 20) }],
    [
      'the 21st to a phone within a day, of all accounts',
      capped('phone_daily', TOMORROW),
      {
        phoneEverywhere: phone(1, 21),
      },
    ],
    [
      'past several caps of a phone: the cap that ends last',
      capped('phone_hourly', LATER),
      { phone: phone(6), phoneEverywhere: { hour: counted(11, LATER), day: counted(1, TOMORROW) } },
    ],
    [
      'past a blocking rule and a cap: the block comes first',
      blocked('daily_spend'),
      { spend: 'over', phone: phone(6) },
    ],
  ])('%s', (_, expected, changes) => {
    expect(judgeTraffic({ ...QUIET, ...changes }, LIMITS)).toEqual(expected);
  });

  it('never trips a breaker of 0 %', () => {
    const block = balance(5_000);
    expect(judgeTraffic({ ...QUIET, block }, { ...LIMITS, breakerPercent: 0 })).toBeNull();
  });

  it('refuses unknown phones exactly when a budget is used up', () => {
    const natural = fc.nat({ max: 5_000 });
    const any = fc
      .record({ unconverted: natural, approvals: fc.nat({ max: 50 }) })
      .map(({ unconverted, approvals }) => balance(unconverted, approvals));
    fc.assert(
      fc.property(any, any, any, fc.nat({ max: 300 }), (account, country, day, floor) => {
        const passed = judgeTraffic({ ...QUIET, account, country, day, floor, messageCap: 1_000_000 }, LIMITS) === null;
        expect(passed).toBe(
          account.unconverted < floor + 4 * account.approvals &&
            country.unconverted + 1 <= floor / 2 + 4 * country.approvals &&
            day.unconverted < Math.max(60, floor) + 4 * day.approvals,
        );
      }),
    );
  });
});

describe('isGuessingSuspected', () => {
  it.each<readonly [string, boolean, CheckTally]>([
    ['121 of 200 wrong, of 50 phones', true, { checks: 200, failed: 121, phones: 50 }],
    ['120 of 200 wrong: 60 %', false, { checks: 200, failed: 120, phones: 50 }],
    ['all of 199 wrong', false, { checks: 199, failed: 199, phones: 50 }],
    ['all wrong, of 49 phones', false, { checks: 1_000, failed: 1_000, phones: 49 }],
    ['none', false, { checks: 0, failed: 0, phones: 0 }],
  ])('%s: %s', (_, expected, tally) => {
    expect(isGuessingSuspected(tally)).toBe(expected);
  });
});
