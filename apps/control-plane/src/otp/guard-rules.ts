import type { DestinationRule } from '@countersign/carriers';
import type { NumberType } from '@countersign/phone';
import type { OtpLimits } from '@countersign/settings';

/** Every reason for which the guard sends nothing, as the admins' view names it. */
export type GuardRule =
  | 'number_type'
  | 'destination_rule'
  | 'country'
  | 'breaker'
  | 'prefix_velocity'
  | 'country_velocity'
  | 'account_velocity'
  | 'daily_spend'
  | 'phone_hourly'
  | 'phone_daily';

/** What is known of a destination before anything is counted. */
export interface Destination {
  /** Null for a number that its plan has given no use. */
  readonly numberType: NumberType | null;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** Countries that the account sends codes to; `*` for all. */
  readonly countries: readonly string[];
  /** The rules in force that the number falls under. */
  readonly rules: readonly DestinationRule[];
}

/** Sends within a window that began with its first, this one among them. */
export interface Counted {
  readonly sends: number;
  readonly endsAt: Date;
}

/** What has been sent lately; in all counters this send is among the rest. */
export interface Traffic {
  readonly account: Counted;
  readonly country: Counted;
  readonly phoneHour: Counted;
  readonly phoneDay: Counted;
  /** Codes of the account to the block of numbers, without this one. */
  readonly prefix: {
    /** Of the last hour, those whose sessions are not approved. */
    readonly unconverted: number;
    /** Of the last 15 minutes. */
    readonly recent: number;
    readonly recentApproved: number;
  };
  /** Whether what the account may spend on codes today suffices for this one too. */
  readonly withinSpendCap: boolean;
}

/** `trips`: the breaker found out about an attack, and the block of numbers is to be blocked from now on. */
export type GuardRefusal =
  | { readonly kind: 'blocked'; readonly rule: GuardRule; readonly trips: boolean }
  | { readonly kind: 'capped'; readonly rule: GuardRule; readonly until: Date };

/** Numbers that pay whoever holds them, or cost whoever is sent to: no end user signs in with one. */
const REFUSED_TYPES: ReadonlySet<NumberType> = new Set(['premium_rate', 'shared_cost']);
const EVERY_COUNTRY = '*';

/** Asked in this order, before anything is counted; the first that holds refuses. */
const DESTINATION_RULES: readonly (readonly [GuardRule, (destination: Destination) => boolean])[] = [
  ['number_type', ({ numberType }) => numberType === null || REFUSED_TYPES.has(numberType)],
  ['destination_rule', ({ rules }) => adminsRule(rules)?.action === 'block'],
  ['country', ({ rules, country, countries }) => !isAllowed(rules) && !serves(countries, country)],
  ['breaker', ({ rules }) => !isAllowed(rules) && rules.some(({ origin }) => origin === 'guard')],
];

/** Asked in this order with the send counted; the first that holds refuses, and nothing of the send stays counted. */
const TRAFFIC_RULES: readonly (readonly [GuardRule, (traffic: Traffic, limits: OtpLimits) => boolean])[] = [
  ['prefix_velocity', ({ prefix }, { prefixPerHour }) => prefix.unconverted >= prefixPerHour],
  ['country_velocity', ({ country }, { countryPerHour }) => country.sends > countryPerHour],
  ['account_velocity', ({ account }, { accountPerHour }) => account.sends > accountPerHour],
  ['daily_spend', ({ withinSpendCap }) => !withinSpendCap],
];

/** Whether a code may go to this destination at all. */
export function judgeDestination(destination: Destination): GuardRefusal | null {
  const [rule] = DESTINATION_RULES.find(([, holds]) => holds(destination)) ?? [];
  return rule === undefined ? null : { kind: 'blocked', rule, trips: false };
}

/**
 * Whether one more code fits what was sent lately. What blocks comes before what only waits (contract, Order): the caps
 * of a phone, of which the later one is told.
 *
 * @param allowed whether an admin's rule allows the destination, which the breaker then leaves alone
 */
export function judgeTraffic(traffic: Traffic, limits: OtpLimits, allowed: boolean): GuardRefusal | null {
  if (!allowed && convertsTooLittle(traffic, limits)) return { kind: 'blocked', rule: 'breaker', trips: true };
  const [rule] = TRAFFIC_RULES.find(([, holds]) => holds(traffic, limits)) ?? [];
  if (rule !== undefined) return { kind: 'blocked', rule, trips: false };
  const { phoneDay, phoneHour } = traffic;
  if (phoneDay.sends > limits.phonePerDay) return { kind: 'capped', rule: 'phone_daily', until: phoneDay.endsAt };
  if (phoneHour.sends > limits.phonePerHour) return { kind: 'capped', rule: 'phone_hourly', until: phoneHour.endsAt };
  return null;
}

/** Whether what admins have said of a destination is that codes go there. */
export const isAllowed = (rules: readonly DestinationRule[]): boolean => adminsRule(rules)?.action === 'allow';

/** Pumped traffic never signs in: nobody reads those codes. */
function convertsTooLittle({ prefix }: Traffic, { breakerSends, breakerPercent }: OtpLimits): boolean {
  return prefix.recent >= breakerSends && prefix.recentApproved * 100 < prefix.recent * breakerPercent;
}

/** Of the admins' rules the longest prefix decides, and of two for one prefix the account's own. */
function adminsRule(rules: readonly DestinationRule[]): DestinationRule | undefined {
  const byPrecedence = (one: DestinationRule, other: DestinationRule): number =>
    other.prefix.length - one.prefix.length || Number(one.accountId === null) - Number(other.accountId === null);
  return rules.filter(({ origin }) => origin === 'admin').sort(byPrecedence)[0];
}

const serves = (countries: readonly string[], country: string): boolean =>
  countries.includes(EVERY_COUNTRY) || countries.includes(country);
