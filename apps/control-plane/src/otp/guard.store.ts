import { destinationPrefix, DestinationStore } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { numberTypeOf } from '@countersign/phone';
import { firstIdAt, ID_CLOCK_SLACK_MS, type Executor, type Uuid } from '@countersign/postgres';
import { ID_TAKEN_UP_WITHIN_MS, LONGEST_SESSION_MS, type Session } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import type { Counted, Destination } from './guard-rules.js';
import {
  ADD_SPEND,
  DROP_COUNTERS,
  LOCK_COUNTERS,
  PURGE_COUNTERS,
  PURGE_SPEND,
  READ_CONVERSION,
  READ_COUNTRIES,
  READ_PRICES,
  READ_SPEND,
  WRITE_COUNTERS,
} from './guard.sql.js';
import { TrafficLedger, type Conversion, type Micros, type Slots, type Spend } from './traffic-ledger.js';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
const HOUR_MS = HOUR_SECONDS * 1_000;
/** What the breaker looks at. */
const RECENT_MS = 15 * 60_000;
/** How much earlier than a code or a session its id may be. */
const ID_EARLIER_MS = ID_TAKEN_UP_WITHIN_MS + ID_CLOCK_SLACK_MS;
/** Rows that one statement of a purge deletes at most. */
const MAX_PURGED = 1_000;

/** A code about to be sent. */
export interface Send {
  readonly session: Pick<Session, 'accountId' | 'phone' | 'country'>;
  /** The clock's reading under the session's lock. */
  readonly now: Date;
}

/** Sends that are decided together, with what is known of the traffic they would add to. */
export interface OpenLedger {
  readonly ledger: TrafficLedger;
  readonly slots: ReadonlyMap<Send, Slots>;
  readonly now: Date;
}

const WINDOW_SECONDS = {
  account: HOUR_SECONDS,
  country: HOUR_SECONDS,
  'phone-hour': HOUR_SECONDS,
  'phone-day': DAY_SECONDS,
} as const;
type Scope = keyof typeof WINDOW_SECONDS;

interface CounterRow extends Counted {
  readonly scope: Scope;
  readonly subject: string;
}

/** Reads and counts what the guard's rules decide by, in the caller's transaction. */
@Injectable()
export class GuardStore {
  constructor(
    private readonly destinations: DestinationStore,
    private readonly keys: ServerKeys,
  ) {}

  /** What is known of a destination. Locks nothing. */
  async readDestination(tx: Executor, { session, now }: Send): Promise<Destination> {
    const { accountId, phone, country } = session;
    const [rules, [account]] = await Promise.all([
      this.destinations.matching(tx, accountId, phone, now),
      tx.query<{ countries: string[] }>(READ_COUNTRIES, [accountId]),
    ]);
    return { numberType: numberTypeOf(phone), country, countries: account?.countries ?? [], rules };
  }

  /**
   * Locks the counters of some sends until the transaction ends, and reads what was sent lately. An account's own counter
   * is among them: until then nobody else decides about a send of that account, so every limit is met exactly.
   */
  async openLedger(tx: Executor, sends: readonly Send[]): Promise<OpenLedger> {
    const now = new Date(Math.max(...sends.map((send) => send.now.getTime())));
    const others = new Map(sends.flatMap((send) => [...this.othersOf(send)]));
    const counted = sends.flatMap((send) => Object.values(this.countersOf(send)));
    const keys = new Set([...counted, ...[...others.values()].flat()]);
    const accounts = distinct(sends, ({ session }) => session.accountId);
    // Asked for at once and answered in this order: all but the first are read behind the locks.
    const [counters, conversions, spends, prices] = await Promise.all([
      lockCounters(tx, [...keys], now),
      readConversions(tx, sends, now),
      readSpends(tx, accounts, now),
      readPrices(
        tx,
        distinct(sends, ({ session }) => session.country),
        now,
      ),
    ]);
    const slots = sends.map((send) => [send, this.slotsOf(send, prices.get(send.session.country) ?? 0n)] as const);
    return { ledger: new TrafficLedger({ counters, others, conversions, spends }), slots: new Map(slots), now };
  }

  /** Writes what was entered, while the locks are still held. */
  async writeLedger(tx: Executor, { ledger, now }: OpenLedger): Promise<void> {
    const counters = ledger.counters().map(({ key, sends }) => ({ ...counterOf(key), sends }));
    const filled = counters.filter(({ sends }) => sends > 0);
    const empty = counters.filter(({ sends }) => sends === 0);
    const paid = ledger.payments();
    await Promise.all([
      filled.length > 0 && tx.query(WRITE_COUNTERS, [...columnsOf(filled), filled.map(({ sends }) => sends)]),
      empty.length > 0 && tx.query(DROP_COUNTERS, columnsOf(empty)),
      paid.length > 0 &&
        tx.query(ADD_SPEND, [paid.map(({ purse }) => purse), paid.map(({ micros }) => String(micros)), now]),
    ]);
  }

  /**
   * Forgets windows that are over, and what was refused and spent before the moment.
   *
   * @returns whether more of it may be left
   */
  async purge(db: Executor, before: Date): Promise<boolean> {
    const counters = await db.query(PURGE_COUNTERS, [MAX_PURGED]);
    const tallies = await this.destinations.purgeRefusals(db, before, MAX_PURGED);
    await db.query(PURGE_SPEND, [before]);
    return counters.length === MAX_PURGED || tallies === MAX_PURGED;
  }

  /** A phone is counted by a digest: a counter holds no number. */
  private countersOf({ session }: Send): Pick<Slots, 'account' | 'country' | 'phoneHour' | 'phoneDay'> {
    const { accountId, phone, country } = session;
    const digest = this.keys.digest('otp-counter', phone).toString('hex');
    return {
      account: keyOf('account', accountId),
      country: keyOf('country', `${accountId}:${country}`),
      phoneHour: keyOf('phone-hour', digest),
      phoneDay: keyOf('phone-day', digest),
    };
  }

  /**
   * The phone's counters under other versions of the master key. During a rotation each process counts on under its
   * current version and adds up all of them, so no cap begins anew; every version's counter is locked, so it holds exactly.
   */
  private othersOf({ session: { phone } }: Send): ReadonlyMap<string, readonly string[]> {
    if (this.keys.versions.length === 1) return NO_OTHERS;
    const [first, ...rest] = this.keys.digests('otp-counter', phone);
    const [current, others] = [first.toString('hex'), rest.map((digest) => digest.toString('hex'))];
    return new Map(
      PHONE_SCOPES.map((scope) => [keyOf(scope, current), others.map((digest) => keyOf(scope, digest))] as const),
    );
  }

  private slotsOf(send: Send, price: Micros): Slots {
    return { ...this.countersOf(send), prefix: prefixKeyOf(send), purse: send.session.accountId, price };
  }
}

const PHONE_SCOPES = ['phone-hour', 'phone-day'] as const satisfies readonly Scope[];
const NO_OTHERS: ReadonlyMap<string, readonly string[]> = new Map();

const keyOf = (scope: Scope, subject: string): string => `${scope} ${subject}`;

function counterOf(key: string): { readonly scope: string; readonly subject: string } {
  const [scope = '', subject = ''] = key.split(' ');
  return { scope, subject };
}

const prefixKeyOf = ({ session }: Send): string => `${session.accountId}:${destinationPrefix(session.phone)}`;

const columnsOf = (counters: readonly { readonly scope: string; readonly subject: string }[]): [string[], string[]] => [
  counters.map(({ scope }) => scope),
  counters.map(({ subject }) => subject),
];

const distinct = (sends: readonly Send[], of: (send: Send) => string): string[] => [...new Set(sends.map(of))];

const secondsOf = (scope: string): number => new Map<string, number>(Object.entries(WINDOW_SECONDS)).get(scope) ?? 0;

async function lockCounters(tx: Executor, keys: readonly string[], now: Date): Promise<Map<string, Counted>> {
  const counters = keys.map(counterOf);
  const windows = counters.map(({ scope }) => secondsOf(scope));
  const rows = await tx.query<CounterRow>(LOCK_COUNTERS, [...columnsOf(counters), windows, now]);
  return new Map(rows.map(({ scope, subject, ...counted }) => [keyOf(scope, subject), counted]));
}

async function readConversions(tx: Executor, sends: readonly Send[], now: Date): Promise<Map<string, Conversion>> {
  const blocks = new Map(sends.map((send) => [prefixKeyOf(send), send]));
  const read = [...blocks].map(async ([key, send]): Promise<[string, Conversion]> => {
    const [conversion] = await tx.query<Conversion>(READ_CONVERSION, conversionValues(send, now.getTime()));
    if (conversion === undefined) throw new Error('a count answered no row');
    return [key, conversion];
  });
  return new Map(await Promise.all(read));
}

function conversionValues({ session }: Send, nowMs: number): readonly unknown[] {
  return [
    session.accountId,
    destinationPrefix(session.phone),
    firstIdAt(nowMs - HOUR_MS - ID_EARLIER_MS),
    firstIdAt(nowMs + ID_CLOCK_SLACK_MS),
    // A code is sent within the life of its session.
    firstIdAt(nowMs - HOUR_MS - LONGEST_SESSION_MS - ID_EARLIER_MS),
    new Date(nowMs - HOUR_MS),
    new Date(nowMs - RECENT_MS),
  ];
}

async function readSpends(tx: Executor, accounts: readonly Uuid[], now: Date): Promise<Map<Uuid, Spend>> {
  const rows = await tx.query<{ id: Uuid; cap: string | null; spent: string }>(READ_SPEND, [accounts, now]);
  return new Map(
    rows.map(({ id, cap, spent }) => [id, { cap: cap === null ? null : BigInt(cap), spent: BigInt(spent) }]),
  );
}

async function readPrices(tx: Executor, countries: readonly string[], now: Date): Promise<Map<string, Micros>> {
  const rows = await tx.query<{ country: string; price: string }>(READ_PRICES, [countries, now]);
  return new Map(rows.map(({ country, price }) => [country, BigInt(price)]));
}
