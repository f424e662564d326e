import { DestinationStore, type DestinationRule } from '@countersign/carriers/destinations';
import { destinationPrefix } from '@countersign/carriers/outbound';
import { ServerKeys, SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import { numberTypeOf, restrictedKindOf } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { firstKnownDay, phoneDigest, phoneDigests, phoneKey } from './approved-phones.js';
import type { Counted, Destination } from './guard-rules.js';
import {
  ADD_SENDS,
  ADD_SPEND,
  DROP_COUNTERS,
  LOCK_COUNTERS,
  PURGE_COUNTERS,
  PURGE_SENDS,
  PURGE_SPEND,
  READ_ACCOUNTS,
  READ_COUNTERS,
  READ_KNOWN_PHONES,
  READ_PRICES,
  READ_SPENT,
  READ_WINDOWS,
  WRITE_COUNTERS,
} from './guard.sql.js';
import {
  scopesOf,
  SendCounters,
  windowKey,
  type AccountLimits,
  type Micros,
  type SendKeys,
  type WindowSums,
} from './send-counters.js';
import { PhoneCounters } from './phone-counters.js';
import { keptUntil, slotOf, windowOf } from './traffic-slots.js';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
const MS_PER_SECOND = 1_000;
/** Rows that one statement of a purge deletes at most. */
const MAX_PURGED = 1_000;

/** A code about to be sent. */
export interface Send {
  readonly session: Pick<Session, 'accountId' | 'phone' | 'country'>;
  /** Database time, read under the session's lock. */
  readonly now: Date;
}

/** Accounts and destinations, read before any counter is locked. */
export interface KnownSends {
  readonly accounts: ReadonlyMap<Uuid, AccountLimits>;
  readonly destinations: ReadonlyMap<Send, Destination>;
  readonly knownPhones: ReadonlySet<string>;
}

/** Sends that are decided together, with the locked counters of their traffic. */
export interface LockedCounters {
  readonly sendCounters: SendCounters;
  readonly keys: ReadonlyMap<Send, SendKeys>;
  readonly now: Date;
}

/**
 * Windows of counters. The account's counter is its lock: transactions with sends of one account run one after the other.
 */
const WINDOW_SECONDS = {
  account: HOUR_SECONDS,
  'account-phone-hour': HOUR_SECONDS,
  'account-phone-day': DAY_SECONDS,
  'phone-hour': HOUR_SECONDS,
  'phone-day': DAY_SECONDS,
} as const;
type CounterScope = keyof typeof WINDOW_SECONDS;

interface CounterRow extends Counted {
  readonly scope: CounterScope;
  readonly subject: string;
}

type AccountRow = Pick<AccountLimits, 'countries' | 'floor' | 'messageCap'> & {
  readonly id: Uuid;
  readonly spendCap: string | null;
};

/** Reads and writes the counters of the guard's rules, in the caller's transaction. */
@Injectable()
export class GuardStore {
  constructor(
    private readonly destinations: DestinationStore,
    private readonly keys: ServerKeys,
  ) {}

  /** Reads the destinations and the accounts of some sends. Locks nothing. */
  async readSends(tx: Executor, sends: readonly Send[]): Promise<KnownSends> {
    const [accounts, knownPhones, rules] = await Promise.all([
      readAccounts(tx, distinct(sends, accountOf)),
      this.readKnownPhones(tx, sends),
      Promise.all(
        sends.map(({ session, now }) => this.destinations.matching(tx, session.accountId, session.phone, now)),
      ),
    ]);
    const destinations = sends.map((send, at): [Send, Destination] => {
      const countries = accounts.get(send.session.accountId)?.countries ?? [];
      const { accountId, phone } = send.session;
      const knownPhone = knownPhones.has(phoneKeyOf(accountId, this.digestOf(phone)));
      return [send, { ...destinationOf(send, rules[at] ?? []), countries, knownPhone }];
    });
    return { accounts, knownPhones, destinations: new Map(destinations) };
  }

  /**
   * Locks the counters of some sends until the transaction ends, and reads the recent traffic. The locks include the
   * account's own counter: no other transaction can decide sends of that account, so every limit is exact.
   */
  openCounters(tx: Executor, sends: readonly Send[], known: KnownSends): Promise<LockedCounters> {
    return this.readTraffic(tx, sends, known, lockCounters);
  }

  /** The same without a lock and without a write: another transaction may count sends meanwhile. */
  peekCounters(db: Executor, sends: readonly Send[], known: KnownSends): Promise<LockedCounters> {
    return this.readTraffic(db, sends, known, peekCounters);
  }

  /** The facts about a destination for all accounts: only rules that concern all of them. */
  async readDestination(db: Executor, send: Omit<Send['session'], 'accountId'>, now: Date): Promise<Destination> {
    const rules = await this.destinations.matching(db, null, send.phone, now);
    const session = { ...send, accountId: '' };
    return { ...destinationOf({ session, now }, rules), countries: ['*'], knownPhone: false };
  }

  /** The price of one code to a country; null for none. */
  async readPrice(db: Executor, country: string, now: Date): Promise<Micros | null> {
    return (await readPrices(db, [country], now)).get(country) ?? null;
  }

  private async readTraffic(
    tx: Executor,
    sends: readonly Send[],
    known: KnownSends,
    readCounters: typeof lockCounters,
  ): Promise<LockedCounters> {
    const moments = sends.map((send) => send.now.getTime());
    const now = new Date(Math.max(...moments));
    // The windows begin with the earliest send: in a batch that spans midnight, both days count for all of its sends.
    const earliest = new Date(Math.min(...moments));
    const others = new Map(sends.flatMap((send) => this.otherCountersOf(send)));
    const lockedKeys = [...sends.flatMap((send) => this.counterKeysOf(send)), ...[...others.values()].flat()];
    // Pipelined and executed in this order, so that all but the first run after the locks are taken.
    const [counters, windows, spent, prices] = await Promise.all([
      readCounters(tx, [...new Set(lockedKeys)], now),
      readWindows(tx, sends, earliest),
      readSpent(tx, distinct(sends, accountOf), now),
      readPrices(
        tx,
        distinct(sends, ({ session }) => session.country),
        now,
      ),
    ]);
    const keys = sends.map((send): [Send, SendKeys] => [
      send,
      this.keysOf(send, prices.get(send.session.country) ?? null),
    ]);
    const { accounts, knownPhones } = known;
    const phones = new PhoneCounters(counters, others);
    const sendCounters = new SendCounters({ accounts, windows, phones, spent, knownPhones });
    return { sendCounters, keys: new Map(keys), now };
  }

  /** Writes the sends that were counted, while the locks are still held. */
  async writeCounters(tx: Executor, { sendCounters, now }: LockedCounters, added: readonly Send[]): Promise<void> {
    const counters = sendCounters.counters().map(({ key, sends }) => ({ ...counterOf(key), sends }));
    const filled = counters.filter(({ sends }) => sends > 0);
    const empty = counters.filter(({ sends }) => sends === 0);
    const paid = sendCounters.payments();
    await Promise.all([
      filled.length > 0 && tx.query(WRITE_COUNTERS, [...columnsOf(filled), filled.map(({ sends }) => sends)]),
      empty.length > 0 && tx.query(DROP_COUNTERS, columnsOf(empty)),
      added.length > 0 && tx.query(ADD_SENDS, sendColumns(added)),
      paid.length > 0 &&
        tx.query(ADD_SPEND, [paid.map(({ accountId }) => accountId), paid.map(({ micros }) => String(micros)), now]),
    ]);
  }

  /**
   * Deletes expired windows, and refusals and spending from before the given time.
   *
   * @returns whether more rows may be left
   */
  async purge(db: Executor, before: Date): Promise<boolean> {
    const counters = await db.query(PURGE_COUNTERS, [MAX_PURGED]);
    const sends = await db.query(PURGE_SENDS, [MAX_PURGED]);
    const tallies = await this.destinations.purgeRefusals(db, before, MAX_PURGED);
    const ofSessions = await this.destinations.purgeSessionRefusals(db, before, MAX_PURGED);
    await db.query(PURGE_SPEND, [before]);
    return [counters.length, sends.length, tallies, ofSessions].includes(MAX_PURGED);
  }

  private async readKnownPhones(tx: Executor, sends: readonly Send[]): Promise<Set<string>> {
    const today = Math.max(...sends.map(({ now }) => now.getTime()));
    const wanted = sends.flatMap(({ session: { accountId, phone } }) => {
      const [current, ...others] = this.digestsOf(phone);
      const phoneKey = phoneKeyOf(accountId, current);
      return [current, ...others].map((digest) => ({ accountId, digest, phoneKey }));
    });
    const rows = new Map(wanted.map((each) => [phoneKeyOf(each.accountId, each.digest), each]));
    const found = await tx.query<{ accountId: Uuid; phone: Buffer }>(READ_KNOWN_PHONES, [
      [...rows.values()].map(({ accountId }) => accountId),
      [...rows.values()].map(({ digest }) => Buffer.from(digest, 'hex')),
      firstKnownDay(today),
    ]);
    return new Set(found.flatMap(({ accountId, phone }) => rows.get(phoneKey({ accountId, phone }))?.phoneKey ?? []));
  }

  /** Digests of a phone as hex, the current version of the master key first. Counters store no phone number. */
  private digestsOf(phone: string): readonly [string, ...string[]] {
    const [current, ...others] = phoneDigests(this.keys, phone);
    return [current.toString('hex'), ...others.map((digest) => digest.toString('hex'))];
  }

  /** The digest of a phone under the current version of the master key, as hex. */
  private digestOf(phone: string): string {
    return phoneDigest(this.keys, phone).toString('hex');
  }

  private counterKeysOf({ session: { accountId, phone } }: Send): string[] {
    const digest = this.digestOf(phone);
    return [counterKey('account', accountId), ...phoneCounters(accountId, digest)];
  }

  /**
   * The phone's counters under other versions of the master key, by the counter under the current one. During a rotation
   * each process increments the counter of its current version and compares the sum of all versions with the cap, so no cap
   * restarts at zero; the counters of all versions are locked, so each cap holds exactly.
   */
  private otherCountersOf({ session: { accountId, phone } }: Send): (readonly [string, readonly string[]])[] {
    if (this.keys.versions.length === 1) return [];
    const [current, ...others] = this.digestsOf(phone);
    const ofOthers = others.map((digest) => phoneCounters(accountId, digest));
    return phoneCounters(accountId, current).map((key, at) => [key, ofOthers.flatMap((keys) => keys[at] ?? [])]);
  }

  private keysOf(send: Send, price: Micros | null): SendKeys {
    const { accountId, phone, country } = send.session;
    const digest = this.digestOf(phone);
    const phoneKey = phoneKeyOf(accountId, digest);
    const [hour, day, hourEverywhere, dayEverywhere] = phoneCounters(accountId, digest);
    return {
      accountId,
      country,
      block: destinationPrefix(phone),
      phone: { hour, day },
      phoneEverywhere: { hour: hourEverywhere, day: dayEverywhere },
      phoneKey,
      price,
    };
  }
}

const accountOf = ({ session }: Send): Uuid => session.accountId;

function destinationOf({ session: { phone, country } }: Send, rules: readonly DestinationRule[]) {
  const type = numberTypeOf(phone);
  return { assigned: type !== null, restrictedKind: restrictedKindOf(phone, type), country, rules };
}

const counterKey = (scope: CounterScope, subject: string): string => `${scope} ${subject}`;

const phoneKeyOf = (accountId: Uuid, digest: string): string => `${accountId}:${digest}`;

/**
 * Counters of a phone: of the account by hour and by day, then of all accounts by hour and by day. Sign-ins of the console are apart
 * from all accounts: an account that sends codes to a phone would learn from its caps whether it is that of a member.
 */
function phoneCounters(accountId: Uuid, digest: string): readonly [string, string, string, string] {
  const phoneKey = phoneKeyOf(accountId, digest);
  const everywhere = accountId === SIGN_IN_ACCOUNT_ID ? phoneKey : digest;
  return [
    counterKey('account-phone-hour', phoneKey),
    counterKey('account-phone-day', phoneKey),
    counterKey('phone-hour', everywhere),
    counterKey('phone-day', everywhere),
  ];
}

function counterOf(key: string): { readonly scope: string; readonly subject: string } {
  const [scope = '', subject = ''] = key.split(' ');
  return { scope, subject };
}

const columnsOf = (counters: readonly { readonly scope: string; readonly subject: string }[]): [string[], string[]] => [
  counters.map(({ scope }) => scope),
  counters.map(({ subject }) => subject),
];

const distinct = (sends: readonly Send[], of: (send: Send) => string): string[] => [...new Set(sends.map(of))];

const secondsOf = (scope: string): number => new Map<string, number>(Object.entries(WINDOW_SECONDS)).get(scope) ?? 0;

const scopesOfSend = ({ session }: Send): readonly string[] =>
  scopesOf({ country: session.country, block: destinationPrefix(session.phone) });

/** The sends of a batch by slot, as columns of ADD_SENDS. */
function sendColumns(sends: readonly Send[]): readonly unknown[] {
  const counted = new Map<string, { accountId: Uuid; scope: string; slotMs: number; sends: number }>();
  for (const send of sends) {
    for (const scope of scopesOfSend(send)) {
      const { accountId } = send.session;
      const slotMs = slotOf(scope, send.now.getTime());
      const key = `${windowKey(accountId, scope)} ${slotMs}`;
      const known = counted.get(key) ?? { accountId, scope, slotMs, sends: 0 };
      counted.set(key, { ...known, sends: known.sends + 1 });
    }
  }
  const rows = [...counted.values()];
  return [
    rows.map(({ accountId }) => accountId),
    rows.map(({ scope }) => scope),
    rows.map(({ slotMs }) => new Date(slotMs)),
    rows.map(({ scope, slotMs }) => new Date(keptUntil(scope, slotMs))),
    rows.map((row) => row.sends),
  ];
}

async function readAccounts(tx: Executor, ids: readonly Uuid[]): Promise<Map<Uuid, AccountLimits>> {
  const rows = await tx.query<AccountRow>(READ_ACCOUNTS, [ids]);
  return new Map(
    rows.map(({ id, spendCap, ...limits }) => [
      id,
      { ...limits, spendCap: spendCap === null ? null : BigInt(spendCap) },
    ]),
  );
}

async function lockCounters(tx: Executor, keys: readonly string[], now: Date): Promise<Map<string, Counted>> {
  const counters = keys.map(counterOf);
  const windows = counters.map(({ scope }) => secondsOf(scope));
  const rows = await tx.query<CounterRow>(LOCK_COUNTERS, [...columnsOf(counters), windows, now]);
  return new Map(rows.map(({ scope, subject, ...counted }) => [counterKey(scope, subject), counted]));
}

/** A counter without an open window has no sends. */
async function peekCounters(db: Executor, keys: readonly string[], now: Date): Promise<Map<string, Counted>> {
  const counters = keys.map(counterOf);
  const rows = await db.query<CounterRow>(READ_COUNTERS, [...columnsOf(counters), now]);
  const open = new Map(rows.map(({ scope, subject, ...counted }) => [counterKey(scope, subject), counted]));
  return new Map(
    keys.map((key) => {
      const endsAt = new Date(now.getTime() + secondsOf(counterOf(key).scope) * MS_PER_SECOND);
      return [key, open.get(key) ?? { sends: 0, endsAt }];
    }),
  );
}

/** The windows of sends that are decided together: they begin as the window of the earliest send does. */
async function readWindows(tx: Executor, sends: readonly Send[], earliest: Date): Promise<Map<string, WindowSums>> {
  const wanted = new Map<string, readonly [Uuid, string]>();
  for (const send of sends) {
    const { accountId } = send.session;
    for (const scope of scopesOfSend(send)) wanted.set(windowKey(accountId, scope), [accountId, scope]);
  }
  const windows = [...wanted.values()].map(([accountId, scope]) => ({
    accountId,
    scope,
    ...windowOf(scope, earliest.getTime()),
  }));
  const rows = await tx.query<WindowSums & { accountId: Uuid; scope: string }>(READ_WINDOWS, [
    windows.map(({ accountId }) => accountId),
    windows.map(({ scope }) => scope),
    windows.map(({ sendsFromMs }) => new Date(sendsFromMs)),
    windows.map(({ approvalsFromMs }) => new Date(approvalsFromMs)),
  ]);
  return new Map(rows.map(({ accountId, scope, ...sums }) => [windowKey(accountId, scope), sums]));
}

async function readSpent(tx: Executor, accounts: readonly Uuid[], now: Date): Promise<Map<Uuid, Micros>> {
  const rows = await tx.query<{ id: Uuid; spent: string }>(READ_SPENT, [accounts, now]);
  return new Map(rows.map(({ id, spent }) => [id, BigInt(spent)]));
}

async function readPrices(tx: Executor, countries: readonly string[], now: Date): Promise<Map<string, Micros | null>> {
  const rows = await tx.query<{ country: string; price: string | null }>(READ_PRICES, [countries, now]);
  return new Map(rows.map(({ country, price }) => [country, price === null ? null : BigInt(price)]));
}
