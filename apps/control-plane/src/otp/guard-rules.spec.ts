import type { DestinationRule } from '@countersign/carriers';
import type { OtpLimits } from '@countersign/settings';
import { describe, expect, it } from 'vitest';
import { isAllowed, judgeDestination, judgeTraffic, type Destination, type Traffic } from './guard-rules.js';

const NOW = new Date('2024-05-01T12:00:00Z');
const SOON = new Date('2024-05-01T12:40:00Z');
const TOMORROW = new Date('2024-05-02T11:00:00Z');

const rule = (changes: Partial<DestinationRule>): DestinationRule => ({
  id: '00000000-0000-0000-0000-000000000000',
  accountId: null,
  prefix: '+44',
  action: 'block',
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

const MOBILE: Destination = { numberType: 'mobile', country: 'GB', countries: ['*'], rules: [] };

describe('a destination', () => {
  it.each<readonly [string, string | null, Partial<Destination>]>([
    ['a mobile number of a country that the account sends to', null, {}],
    ['a country by its name', null, { countries: ['US', 'GB'] }],
    ['a fixed line: some read codes aloud', null, { numberType: 'fixed_line' }],
    ['a country that is not listed', 'country', { countries: ['US'] }],
    ['an account without countries', 'country', { countries: [] }],
    ['a number of no country, for one', 'country', { country: '001', countries: ['GB'] }],
    ['a premium-rate number', 'number_type', { numberType: 'premium_rate' }],
    ['a shared-cost number', 'number_type', { numberType: 'shared_cost' }],
    ['a number that is not assigned', 'number_type', { numberType: null }],
    ['a premium-rate number that an admin allows', 'number_type', { numberType: 'premium_rate', rules: [rule(ALLOW)] }],
    ['a prefix that an admin blocks', 'destination_rule', { rules: [rule({})] }],
    ['a prefix that an admin allows, of a country that is not listed', null, { countries: [], rules: [rule(ALLOW)] }],
    ['a prefix that the guard blocks', 'breaker', { rules: [rule(GUARD)] }],
    ['a prefix that the guard blocks and an admin allows', null, { rules: [rule(GUARD), rule(ALLOW)] }],
    [
      'a block within what is allowed: the longest prefix decides',
      'destination_rule',
      { rules: [rule(ALLOW), rule({ prefix: '+4479' })] },
    ],
    [
      'what is allowed within a block',
      null,
      { rules: [rule({}), rule({ ...ALLOW, prefix: '+4479' }), rule({ prefix: '+447' })] },
    ],
    [
      'the account’s own rule before the common one of the same prefix',
      null,
      { rules: [rule({}), rule({ ...ALLOW, ...ACCOUNT })] },
    ],
    ['and the other way about', 'destination_rule', { rules: [rule({ ...ACCOUNT }), rule(ALLOW)] }],
    [
      'a longer common rule before the account’s own',
      'destination_rule',
      { rules: [rule({ ...ALLOW, ...ACCOUNT }), rule({ prefix: '+4479' })] },
    ],
  ])('%s', (_, expected, changes) => {
    expect(judgeDestination({ ...MOBILE, ...changes })?.rule ?? null).toBe(expected);
  });

  it('is allowed by an admin’s rule and by nothing else', () => {
    expect([isAllowed([]), isAllowed([rule(ALLOW)]), isAllowed([rule({})]), isAllowed([rule(GUARD)])]).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });
});

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
const counted = (sends: number, endsAt = SOON) => ({ sends, endsAt });
const QUIET: Traffic = {
  account: counted(1),
  country: counted(1),
  phoneHour: counted(1),
  phoneDay: counted(1, TOMORROW),
  prefix: { unconverted: 0, recent: 0, recentApproved: 0 },
  withinSpendCap: true,
};
const prefix = (recent: number, recentApproved: number, unconverted = 0): Partial<Traffic> => ({
  prefix: { unconverted, recent, recentApproved },
});

describe('one code more', () => {
  const blocked = (by: string, trips = false) => ({ kind: 'blocked', rule: by, trips });
  const capped = (by: string, until: Date) => ({ kind: 'capped', rule: by, until });

  it.each<readonly [string, object | null, Partial<Traffic>]>([
    ['the first', null, {}],
    ['the 5th to a phone within an hour', null, { phoneHour: counted(5) }],
    ['the 6th to a phone within an hour', capped('phone_hourly', SOON), { phoneHour: counted(6) }],
    ['the 10th to a phone within a day', null, { phoneDay: counted(10) }],
    ['the 11th to a phone within a day', capped('phone_daily', TOMORROW), { phoneDay: counted(11, TOMORROW) }],
    [
      'past both caps of a phone: the later one',
      capped('phone_daily', TOMORROW),
      { phoneHour: counted(6), phoneDay: counted(11, TOMORROW) },
    ],
    ['the 2,000th to a country', null, { country: counted(2_000) }],
    ['the 2,001st to a country', blocked('country_velocity'), { country: counted(2_001) }],
    ['the 5,001st of an account', blocked('account_velocity'), { account: counted(5_001) }],
    ['after 199 to a block of numbers that were not used', null, prefix(0, 0, 199)],
    ['after 200 to a block of numbers that were not used', blocked('prefix_velocity'), prefix(0, 0, 200)],
    ['past the spend cap', blocked('daily_spend'), { withinSpendCap: false }],
    ['after 49 of which none was used', null, prefix(49, 0)],
    ['after 50 of which none was used', blocked('breaker', true), prefix(50, 0)],
    ['after 50 of which 9 were used', blocked('breaker', true), prefix(50, 9)],
    ['after 50 of which 10 were used', null, prefix(50, 10)],
    [
      'what blocks is told before what only waits',
      blocked('country_velocity'),
      { country: counted(2_001), phoneHour: counted(6) },
    ],
  ])('%s', (_, expected, changes) => {
    expect(judgeTraffic({ ...QUIET, ...changes }, LIMITS, false)).toEqual(expected);
  });

  it('trips no breaker where an admin allows the prefix; everything else still limits it', () => {
    expect(judgeTraffic({ ...QUIET, ...prefix(50, 0) }, LIMITS, true)).toBeNull();
    expect(judgeTraffic({ ...QUIET, ...prefix(50, 0, 200) }, LIMITS, true)).toMatchObject({ rule: 'prefix_velocity' });
    expect(judgeTraffic({ ...QUIET, withinSpendCap: false }, LIMITS, true)).toMatchObject({ rule: 'daily_spend' });
  });

  it('a breaker of 0 % never trips', () => {
    expect(judgeTraffic({ ...QUIET, ...prefix(5_000, 0) }, { ...LIMITS, breakerPercent: 0 }, false)).toBeNull();
  });
});
