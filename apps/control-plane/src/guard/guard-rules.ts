import type { DestinationRule } from '@countersign/carriers/destinations';
import type { RestrictedKind } from '@countersign/phone';
import type { OtpLimits } from '@countersign/settings';

/*
 * All rules of the guard against SMS pumping and code guessing, as pure functions. guard.store.ts reads and counts sends,
 * approval.store.ts counts approvals, code-checks.store.ts counts wrong codes.
 */

/** The rules that can refuse a code, with their names in the admin API. */
export const GUARD_RULES = [
  'number_type',
  'destination_rule',
  'country',
  'breaker',
  'budget_account',
  'budget_country',
  'budget_day',
  'daily_messages',
  'no_price',
  'daily_spend',
  'phone_hourly',
  'phone_daily',
] as const;
export type GuardRule = (typeof GUARD_RULES)[number];

/** The facts about a destination that need no counter. */
export interface Destination {
  /** Whether the number plan assigns the number. */
  readonly assigned: boolean;
  /** Null for a number of an ordinary kind. */
  readonly restrictedKind: RestrictedKind | null;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** Countries that the account sends codes to; `*` for all. */
  readonly countries: readonly string[];
  /** The rules in force that match the number. */
  readonly rules: readonly DestinationRule[];
  /** Whether the phone approved a session of the account within the last 30 days. */
  readonly knownPhone: boolean;
}

/** Sends within a window that began with its first send; includes the send that is judged. */
export interface Counted {
  readonly sends: number;
  readonly endsAt: Date;
}

/** Sends and approvals of a window, without the send that is judged. */
export interface Balance {
  readonly sends: number;
  /** Sends whose sessions are not approved (yet). */
  readonly unconverted: number;
  /** Phones that approved a session, each at most once per UTC day. */
  readonly approvals: number;
}

export interface Traffic {
  /** The account, over the last hour. */
  readonly account: Balance;
  /** The account in the country of the phone, over the last hour. */
  readonly country: Balance;
  /** The account in the phone's block of 10,000 numbers, over the last hour; approvals by sessions with a code only. */
  readonly block: Balance;
  /** The account on this UTC day. */
  readonly day: Balance;
  /** `otpUnconvertedFloor` of the account. */
  readonly floor: number;
  /** `otpDailyMessageCap` of the account. */
  readonly messageCap: number;
  readonly knownPhone: boolean;
  /** Whether the daily spend cap of the account allows the price of this send. */
  readonly spend: 'within' | 'over' | 'no_price';
  /** Sends to the phone by this account, including the send that is judged. */
  readonly phone: PhoneTraffic;
  /** The same by all accounts. */
  readonly phoneEverywhere: PhoneTraffic;
}

export interface PhoneTraffic {
  readonly hour: Counted;
  readonly day: Counted;
}

/** `trips`: the breaker detected an attack; the caller must add a rule that blocks the number range. */
export type GuardRefusal =
  | { readonly kind: 'blocked'; readonly rule: GuardRule; readonly trips: boolean }
  | { readonly kind: 'capped'; readonly rule: GuardRule; readonly until: Date };

/** Further unconverted sends that one approval allows. */
const CREDITS_PER_APPROVAL = 4;
/** Unconverted sends on one UTC day without any approval, if the floor is not larger. */
const LEAST_DAILY_FLOOR = 60;
/** When a budget is used up, sends to a block of 10,000 numbers with a lower conversion are refused. */
const LEAST_BLOCK_PERCENT = 20;
/** The caps of a phone over all accounts, as a multiple of those within one account. */
const EVERYWHERE_FACTOR = 2;

const EVERY_COUNTRY = '*';

/** Checked in this order before any counter is read. The first rule that holds refuses. */
const DESTINATION_RULES: readonly (readonly [GuardRule, (destination: Destination) => boolean])[] = [
  ['number_type', (destination) => !destination.assigned || !allowsKind(destination)],
  ['destination_rule', ({ rules }) => decidingAdminRule(rules)?.action === 'block'],
  ['country', ({ rules, country, countries }) => !isAllowed(rules) && !includesCountry(countries, country)],
  // Allow rules do not override it: an operator deletes the guard's rule or raises the floor of the account.
  ['breaker', ({ rules, knownPhone }) => !knownPhone && rules.some(({ origin }) => origin === 'guard')],
];

/** Checked in this order with the send added. The first rule that holds refuses, and the send is not counted. */
const TRAFFIC_RULES: readonly (readonly [GuardRule, (traffic: Traffic) => boolean])[] = [
  ['budget_account', (traffic) => isOver(traffic.account, traffic.floor) && isRefusedOverBudget(traffic)],
  ['budget_country', (traffic) => isOver(traffic.country, traffic.floor / 2) && isRefusedOverBudget(traffic)],
  ['budget_day', (traffic) => isOver(traffic.day, dailyFloorOf(traffic.floor)) && isRefusedOverBudget(traffic)],
  ['daily_messages', ({ day, messageCap }) => day.sends + 1 > messageCap],
  ['no_price', ({ spend }) => spend === 'no_price'],
  ['daily_spend', ({ spend }) => spend === 'over'],
];

/** Whether a code may go to this destination at all. */
export function judgeDestination(destination: Destination): GuardRefusal | null {
  const [rule] = DESTINATION_RULES.find(([, holds]) => holds(destination)) ?? [];
  return rule === undefined ? null : { kind: 'blocked', rule, trips: false };
}

/**
 * Whether the limits of recent traffic allow one more code. Blocking rules precede the caps of the phone, which only
 * make the caller wait (contract, Order). If several caps apply, the answer names the cap that ends last.
 */
export function judgeTraffic(traffic: Traffic, limits: OtpLimits): GuardRefusal | null {
  if (trips(traffic, limits)) return { kind: 'blocked', rule: 'breaker', trips: true };
  const [rule] = TRAFFIC_RULES.find(([, holds]) => holds(traffic)) ?? [];
  if (rule !== undefined) return { kind: 'blocked', rule, trips: false };
  const caps = [...capsOf(traffic.phone, limits, 1), ...capsOf(traffic.phoneEverywhere, limits, EVERYWHERE_FACTOR)];
  return caps.sort((one, other) => other.until.getTime() - one.until.getTime())[0] ?? null;
}

/** Checks of one account over the last hour: codes of live sessions that were compared. */
export interface CheckTally {
  readonly checks: number;
  readonly failed: number;
  /** Different phones among them, counted up to `GUESSING_PHONES` at least. */
  readonly phones: number;
}

const GUESSING_CHECKS = 200;
export const GUESSING_PHONES = 50;
const GUESSING_PERCENT = 60;
/** Wrong codes at most of a session that is created while guessing is suspected at its account. */
export const ATTEMPTS_UNDER_GUESSING = 2;

/** Whether wrong codes over many phones suggest guessing; new sessions then accept fewer wrong codes. */
export const isGuessingSuspected = ({ checks, failed, phones }: CheckTally): boolean =>
  checks >= GUESSING_CHECKS && phones >= GUESSING_PHONES && failed * 100 > checks * GUESSING_PERCENT;

/** Whether the deciding admin rule allows the number. */
const isAllowed = (rules: readonly DestinationRule[]): boolean => decidingAdminRule(rules)?.action === 'allow';

/** A number of a restricted kind needs a deciding allow rule that lists this kind. */
function allowsKind({ restrictedKind, rules }: Destination): boolean {
  if (restrictedKind === null) return true;
  const rule = decidingAdminRule(rules);
  return rule?.action === 'allow' && rule.kinds.includes(restrictedKind);
}

/** Unconverted sends that a floor and the approvals of a window allow. */
export const allowanceOf = (floor: number, approvals: number): number => floor + CREDITS_PER_APPROVAL * approvals;

/** The floor of a UTC day. */
export function dailyFloorOf(floor: number): number {
  return Math.max(LEAST_DAILY_FLOOR, floor);
}

/** Whether one more unconverted send is more than the floor and the credits of the window allow. */
const isOver = ({ unconverted, approvals }: Balance, floor: number): boolean =>
  unconverted + 1 > allowanceOf(floor, approvals);

/** Whether a used-up budget refuses this send: the phone is not known, and its block of numbers converts too little. */
const isRefusedOverBudget = ({ knownPhone, block }: Traffic): boolean => !knownPhone && hasLowConversion(block);

/**
 * A phone counts once per day, so that one phone of an attacker cannot keep up the conversion of its block. Without any
 * approval a block converts too little.
 */
const hasLowConversion = ({ unconverted, approvals }: Balance): boolean =>
  approvals === 0 || approvals * 100 < (approvals + unconverted) * LEAST_BLOCK_PERCENT;

/**
 * Whether the breaker of a block of numbers trips. Pumped traffic never approves. The budget stops it if an account has no
 * other traffic; the breaker stops it if it spends the credits of legitimate traffic on one block.
 */
function trips({ block, floor, knownPhone }: Traffic, { breakerSends, breakerPercent }: OtpLimits): boolean {
  if (knownPhone || block.sends < Math.max(breakerSends, floor)) return false;
  return (block.sends - block.unconverted) * 100 < block.sends * breakerPercent;
}

type Cap = Extract<GuardRefusal, { kind: 'capped' }>;

function capsOf({ hour, day }: PhoneTraffic, { phonePerHour, phonePerDay }: OtpLimits, factor: number): Cap[] {
  return [
    ...(day.sends > phonePerDay * factor ? [{ kind: 'capped', rule: 'phone_daily', until: day.endsAt } as const] : []),
    ...(hour.sends > phonePerHour * factor
      ? [{ kind: 'capped', rule: 'phone_hourly', until: hour.endsAt } as const]
      : []),
  ];
}

/** The deciding admin rule: the longest prefix; for the same prefix the account's own rule before the common one. */
function decidingAdminRule(rules: readonly DestinationRule[]): DestinationRule | undefined {
  const byPrecedence = (one: DestinationRule, other: DestinationRule): number =>
    other.prefix.length - one.prefix.length || Number(one.accountId === null) - Number(other.accountId === null);
  return rules.filter(({ origin }) => origin === 'admin').sort(byPrecedence)[0];
}

const includesCountry = (countries: readonly string[], country: string): boolean =>
  countries.includes(EVERY_COUNTRY) || countries.includes(country);
