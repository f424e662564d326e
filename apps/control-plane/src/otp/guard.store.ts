import { destinationPrefix, DestinationStore } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { numberTypeOf } from '@countersign/phone';
import { firstIdAt, type Executor } from '@countersign/postgres';
import type { Session } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import type { Counted, Destination, Traffic } from './guard-rules.js';
import { ADD_SPEND, COUNT_SEND, PURGE_COUNTERS, PURGE_SPEND, READ_CONVERSION, READ_COUNTRIES } from './guard.sql.js';

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
const HOUR_MS = HOUR_SECONDS * 1_000;
/** What the breaker looks at. */
const RECENT_MS = 15 * 60_000;
/** Ids are stamped by each process with its own reading of the database's clock. */
const ID_CLOCK_SLACK_MS = 60_000;
/** A code is sent within the life of its session (specification 8: at most 300 s), so no earlier one matters. */
const LONGEST_SESSION_MS = 300_000;

/** Rows that one statement of a purge deletes at most. */
const MAX_PURGED = 1_000;

/** A code about to be sent. */
export interface Send {
  readonly session: Pick<Session, 'accountId' | 'phone' | 'country'>;
  /** The clock's reading under the session's lock. */
  readonly now: Date;
}

type Scope = 'account' | 'country' | 'phone-hour' | 'phone-day' | 'prefix';

interface CounterRow extends Counted {
  readonly scope: Scope;
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
   * Counts a send and tells what it comes on top of. Its counters stay locked until the transaction ends, and a rollback
   * takes the count back: so sends of one account come one after the other, and a limit is met exactly.
   */
  async countSend(tx: Executor, send: Send): Promise<Traffic> {
    const { accountId, country } = send.session;
    const [counters, [conversion], [spend]] = await Promise.all([
      tx.query<CounterRow>(COUNT_SEND, this.counterValues(send)),
      tx.query<Traffic['prefix']>(READ_CONVERSION, conversionValues(send)),
      tx.query<{ withinSpendCap: boolean }>(ADD_SPEND, [accountId, country, send.now]),
    ]);
    if (conversion === undefined) throw new Error('a count answered no row');
    const counted = new Map(counters.map((counter) => [counter.scope, counter]));
    const of = (scope: Scope): Counted => {
      const counter = counted.get(scope);
      if (counter === undefined) throw new Error(`a send was not counted in its ${scope}`);
      return counter;
    };
    return {
      account: of('account'),
      country: of('country'),
      phoneHour: of('phone-hour'),
      phoneDay: of('phone-day'),
      prefix: conversion,
      withinSpendCap: spend?.withinSpendCap ?? false,
    };
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

  /** The counter of the block of numbers limits nothing by itself: behind its lock the conversion is counted. */
  private counterValues({ session, now }: Send): readonly unknown[] {
    const { accountId, phone, country } = session;
    const digest = this.keys.digest('otp-counter', phone).toString('hex');
    const windows: readonly (readonly [Scope, string, number])[] = [
      ['account', accountId, HOUR_SECONDS],
      ['country', `${accountId}:${country}`, HOUR_SECONDS],
      ['phone-hour', digest, HOUR_SECONDS],
      ['phone-day', digest, DAY_SECONDS],
      ['prefix', `${accountId}:${destinationPrefix(phone)}`, HOUR_SECONDS],
    ];
    return [windows.map(([scope]) => scope), windows.map(([, subject]) => subject), windows.map(([, , s]) => s), now];
  }
}

function conversionValues({ session, now }: Send): readonly unknown[] {
  const nowMs = now.getTime();
  return [
    session.accountId,
    destinationPrefix(session.phone),
    firstIdAt(nowMs - HOUR_MS - ID_CLOCK_SLACK_MS),
    firstIdAt(nowMs + ID_CLOCK_SLACK_MS),
    firstIdAt(nowMs - HOUR_MS - LONGEST_SESSION_MS - ID_CLOCK_SLACK_MS),
    new Date(nowMs - HOUR_MS),
    new Date(nowMs - RECENT_MS),
  ];
}
