import { SimulatedGuard, type Phone } from './simulated-guard.js';
import {
  BEGIN_MS,
  DAY_MS,
  gapMs,
  HOUR_MS,
  logNormal,
  MINUTE_MS,
  phoneOf,
  randomOf,
  SECOND_MS,
  sendTo,
  Timeline,
} from './traffic.js';

/** Values of a new account that no operator has set. */
export const DEFAULTS = { floor: 50, messageCap: 1_000 };
/** An honest account whose operator raised the cap of messages, and nothing else. */
const GROWN = { floor: 50, messageCap: 1_000_000 };

interface PumpingRun {
  readonly name: string;
  /** When the n-th attempt is made, and to which phone. */
  readonly attempt: (at: number, random: () => number) => { readonly atMs: number; readonly phone: Phone };
  readonly attempts: number;
}

const everyTenSeconds = (at: number): number => BEGIN_MS + at * 10 * SECOND_MS;
const TWO_DAYS_OF_TENS = (2 * DAY_MS) / (10 * SECOND_MS);

/** Pumpers who never approve, over two days, each with another distribution of attempts. */
export const PUMPING_RUNS: readonly PumpingRun[] = [
  {
    name: 'one block of numbers',
    attempts: TWO_DAYS_OF_TENS,
    attempt: (at) => ({ atMs: everyTenSeconds(at), phone: phoneOf(0, 0, at) }),
  },
  {
    name: 'every number in another block, one country',
    attempts: TWO_DAYS_OF_TENS,
    attempt: (at) => ({ atMs: everyTenSeconds(at), phone: phoneOf(0, at % 10_000, at) }),
  },
  {
    name: 'six countries in turn',
    attempts: TWO_DAYS_OF_TENS,
    attempt: (at) => ({ atMs: everyTenSeconds(at), phone: phoneOf(at, at % 10_000, at) }),
  },
  {
    name: 'a few phones again and again',
    attempts: TWO_DAYS_OF_TENS,
    attempt: (at) => ({ atMs: everyTenSeconds(at), phone: phoneOf(at, 0, at % 40) }),
  },
  {
    name: 'bursts around midnight and the full hours',
    attempts: 48 * 200,
    attempt: (at) => ({
      atMs: BEGIN_MS + Math.floor(at / 200) * HOUR_MS + HOUR_MS - 50_000 + (at % 200) * 500,
      phone: phoneOf(at, at % 10_000, at),
    }),
  },
  {
    name: 'times, countries, blocks and phones at random',
    attempts: 20_000,
    attempt: (at, random) => ({
      atMs: BEGIN_MS + (at + random()) * ((2 * DAY_MS) / 20_000),
      phone: phoneOf(Math.floor(random() * 6), Math.floor(random() * 2_000), Math.floor(random() * 10_000)),
    }),
  },
];

/** The times of the codes sent for a pumper who never approves. */
export function pump({ attempt, attempts }: PumpingRun, seed: number): number[] {
  const guard = new SimulatedGuard(DEFAULTS);
  const random = randomOf(seed);
  const sent: number[] = [];
  for (let at = 0; at < attempts; at += 1) {
    const { atMs, phone } = attempt(at, random);
    if (sendTo(guard, phone, atMs).sent) sent.push(atMs);
  }
  return sent;
}

/** By then a pumper has used up the floor of the day: 50 codes in the first hour and 10 in the second. */
const FLOOR_USED_UP_MINUTES = 130;

/**
 * Codes sent on one day to other phones for a pumper who approves with phones of his own, one after the other over the day,
 * once the floor of the day is used up. `inOwnBlocks`: the other phones include the blocks of his own phones, which still
 * convert.
 */
export function pumpWithOwnPhones(ownPhones: number, inOwnBlocks: boolean): number {
  const guard = new SimulatedGuard(DEFAULTS);
  let codes = 0;
  let next = 0;
  const foreign = (atMs: number, phone: Phone): boolean => {
    const { sent } = sendTo(guard, phone, atMs);
    if (sent) codes += 1;
    return sent;
  };
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    const atMs = BEGIN_MS + minute * MINUTE_MS;
    const spread = Math.max(0, minute + 1 - FLOOR_USED_UP_MINUTES) / (20 * 60);
    const due = Math.min(ownPhones, Math.ceil(spread * ownPhones));
    for (; next < due; next += 1) {
      const own = phoneOf(next, 5_000 + next, 1);
      // Approved by SMS first: then the phone is known and gets a code, whose approval lets its block convert.
      guard.approve({ phone: own, sentMs: [] }, atMs);
      guard.approve(sendTo(guard, own, atMs).session, atMs + 1);
    }
    for (let tries = 0; tries < 12; tries += 1) foreign(atMs + 2 + tries, phoneOf(tries, minute + tries * 400, minute));
    if (!inOwnBlocks) continue;
    for (let own = 0; own < next; own += 1) foreign(atMs + 100, phoneOf(own, 5_000 + own, 2 + minute));
  }
  return codes;
}

export interface HonestRun {
  readonly sends: number;
  readonly refused: number;
}

/** Codes and refusals of honest users by whether their phone approved before, and the codes of an attacker. */
export interface SharedRun {
  readonly known: HonestRun;
  readonly fresh: HonestRun;
  readonly attacker: number;
  readonly attempts: number;
}

interface Tenant {
  readonly guard: SimulatedGuard;
  readonly timeline: Timeline;
  readonly random: () => number;
}

const CONVERTS = 0.7;
const MEDIAN_MS = 20 * SECOND_MS;
const SPREAD = 0.6;
const LONGEST_MS = 300 * SECOND_MS;
/** From an approval until the guard counts it: events are dispatched within milliseconds, this is slower. */
const COUNTED_AFTER_MS = 500;
const HONEST_BLOCKS = 2_000;
const COUNTRY_SHARES = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2];

const honestPhone = (random: () => number): Phone =>
  phoneOf(
    COUNTRY_SHARES[Math.floor(random() * COUNTRY_SHARES.length)] ?? 0,
    Math.floor(random() * HONEST_BLOCKS),
    Math.floor(random() * 10_000),
  );

/** A user asks for a code, and in 70 of 100 cases approves with it, after 20 s in the median. */
function visit({ guard, timeline, random }: Tenant, phone: Phone, nowMs: number): boolean {
  const { session, sent } = sendTo(guard, phone, nowMs);
  if (sent && random() < CONVERTS) {
    const afterMs = Math.min(LONGEST_MS, logNormal(random, MEDIAN_MS, SPREAD));
    timeline.add(nowMs + afterMs + COUNTED_AFTER_MS, (atMs) => guard.approve(session, atMs));
  }
  return sent;
}

/** Visits at a rate that depends on the time since the beginning. */
function visits(tenant: Tenant, hours: number, rateAt: (hour: number) => number, each: (nowMs: number) => void): void {
  const next = (nowMs: number): void => {
    const hour = (nowMs - BEGIN_MS) / HOUR_MS;
    if (hour >= hours) return;
    each(nowMs);
    tenant.timeline.add(nowMs + gapMs(tenant.random, rateAt(hour)), next);
  };
  tenant.timeline.add(BEGIN_MS, next);
}

const tenantOf = (seed: number): Tenant => ({
  guard: new SimulatedGuard(GROWN),
  timeline: new Timeline(),
  random: randomOf(seed),
});

/** Counts a code as sent or refused. */
function count(tally: { sends: number; refused: number }, sent: boolean): void {
  if (sent) tally.sends += 1;
  else tally.refused += 1;
}

/** An honest account that grows tenfold within its second hour; all phones are new to it. By hour. */
export function grow(seed: number): readonly HonestRun[] {
  const tenant = tenantOf(seed);
  const hours = Array.from({ length: 4 }, () => ({ sends: 0, refused: 0 }));
  const rateAt = (hour: number): number => 0.5 * 10 ** Math.min(1, Math.max(0, hour - 1));
  visits(tenant, hours.length, rateAt, (nowMs) => {
    const tally = hours[Math.floor((nowMs - BEGIN_MS) / HOUR_MS)];
    if (tally === undefined) return;
    count(tally, visit(tenant, honestPhone(tenant.random), nowMs));
  });
  tenant.timeline.run();
  return hours;
}

/** An honest account, half of whose visitors approved before, while somebody pumps codes through the same page. */
export function share(attackPerSecond: number, seed: number): SharedRun {
  const tenant = tenantOf(seed);
  const { guard, random } = tenant;
  const regulars = Array.from({ length: 20_000 }, () => honestPhone(random));
  regulars.forEach((phone, at) => guard.remember(phone, 1 + (at % 29), BEGIN_MS));
  const known = { sends: 0, refused: 0 };
  const fresh = { sends: 0, refused: 0 };
  const attack = { sends: 0, refused: 0 };
  visits(
    tenant,
    4,
    () => 1,
    (nowMs) => {
      const regular = random() < 0.5 ? regulars[Math.floor(random() * regulars.length)] : undefined;
      count(regular === undefined ? fresh : known, visit(tenant, regular ?? honestPhone(random), nowMs));
    },
  );
  if (attackPerSecond > 0) {
    visits(
      tenant,
      4,
      (hour) => (hour < 1 ? 1e-3 : attackPerSecond),
      (nowMs) => count(attack, sendTo(guard, honestPhone(random), nowMs).sent),
    );
  }
  tenant.timeline.run();
  return { known, fresh, attacker: attack.sends, attempts: attack.sends + attack.refused };
}
