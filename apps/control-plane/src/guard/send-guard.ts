import { DestinationStore } from '@countersign/carriers/destinations';
import { destinationPrefix } from '@countersign/carriers/outbound';
import { Database, type Executor } from '@countersign/postgres';
import type { OtpLimits } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { judgeDestination, judgeTraffic, type Destination, type GuardRefusal, type GuardRule } from './guard-rules.js';
import { GuardStore, type OpenLedger, type Send } from './guard.store.js';
import type { SendKeys, SendCounters } from './send-counters.js';

/** A class, so that Nest can inject it. */
export class GuardOptions {
  constructor(
    readonly limits: OtpLimits,
    /** Called for every refusal. */
    readonly onRefused: (rule: GuardRule) => void,
    /** Called with the error when refusals could not be written. */
    readonly onError: (error: unknown) => void,
  ) {}
}

/** What the guard refused, and of whom. */
export interface GuardedRefusal {
  readonly session: Send['session'];
  readonly refusal: GuardRefusal;
}

/** Some sends under the guard, in one transaction: each is judged by what was sent before and by those entered here. */
export class GuardedSends {
  /** The sends that were counted. */
  readonly entered: Send[] = [];

  constructor(
    private readonly destinations: ReadonlyMap<Send, Destination>,
    /** Of those whose destination is not blocked; null when there are none. */
    readonly traffic: OpenLedger | null,
    private readonly limits: OtpLimits,
  ) {}

  /** Whether a code may be sent, or why not. */
  judge(send: Send): GuardRefusal | null {
    const destination = this.destinations.get(send);
    if (destination === undefined) throw new Error('a destination was not read');
    const blocked = judgeDestination(destination);
    if (blocked !== null) return blocked;
    const { ledger, keys } = this.open(send);
    return judgeTraffic(ledger.trafficWith(keys), this.limits);
  }

  /** Counts a send that goes. */
  enter(send: Send): void {
    const { ledger, keys } = this.open(send);
    ledger.enter(keys);
    this.entered.push(send);
  }

  private open(send: Send): { readonly ledger: SendCounters; readonly keys: SendKeys } {
    const keys = this.traffic?.keys.get(send);
    if (this.traffic === null || keys === undefined) throw new Error('the traffic of a send was not read');
    return { ledger: this.traffic.ledger, keys };
  }
}

/**
 * The toll-fraud guard: decides whether a code may be sent, so that nobody earns by having codes sent to numbers of his
 * own. Callers learn that a destination is blocked; which rule blocked it is for the admins.
 */
@Injectable()
export class SendGuard {
  constructor(
    private readonly store: GuardStore,
    private readonly destinations: DestinationStore,
    private readonly database: Database,
    private readonly options: GuardOptions,
  ) {}

  /**
   * Reads all that the sends are judged by. What needs no counter is read first: traffic to a blocked destination locks
   * none.
   */
  async open(tx: Executor, sends: readonly Send[]): Promise<GuardedSends> {
    const { limits } = this.options;
    if (sends.length === 0) return new GuardedSends(new Map(), null, limits);
    const known = await this.store.readSends(tx, sends);
    const open = [...known.destinations].flatMap(([send, each]) => (judgeDestination(each) === null ? [send] : []));
    const traffic = open.length === 0 ? null : await this.store.openLedger(tx, open, known);
    return new GuardedSends(known.destinations, traffic, limits);
  }

  /** Writes down what was counted, in the same transaction. */
  async close(tx: Executor, { traffic, entered }: GuardedSends): Promise<void> {
    if (traffic !== null) await this.store.writeLedger(tx, traffic, entered);
  }

  /**
   * Writes down what was refused, after the transaction: blocks that the breaker found due, and the tallies. Nothing
   * depends on it, so it never fails: a block that is lost is found due again by the next send.
   */
  async record(refused: readonly GuardedRefusal[]): Promise<void> {
    for (const { refusal } of refused) this.options.onRefused(refusal.rule);
    await this.write(refused).catch(this.options.onError);
  }

  /** All at once: the callers of the batch wait for it. */
  private async write(refused: readonly GuardedRefusal[]): Promise<void> {
    await Promise.all(alike(refused).map((each) => this.writeOne(each)));
  }

  private async writeOne({ session, refusal, times }: Repeated): Promise<void> {
    const { accountId, phone } = session;
    const prefix = destinationPrefix(phone);
    if (refusal.kind === 'blocked' && refusal.trips) {
      const { breakerSends, breakerPercent, breakerBlockSeconds } = this.options.limits;
      const reason = `Of ${breakerSends} or more codes in an hour fewer than ${breakerPercent} % were used.`;
      await this.destinations.blockPrefix(this.database, {
        accountId,
        prefix,
        reason,
        blockSeconds: breakerBlockSeconds,
      });
    }
    await this.destinations.countRefusals(this.database, accountId, refusal.rule, prefix, times);
  }
}

type Repeated = GuardedRefusal & { readonly times: number };

/** Refusals of one account by one rule to one block of numbers, as one. */
function alike(refused: readonly GuardedRefusal[]): Repeated[] {
  const found = new Map<string, Repeated>();
  for (const each of refused) {
    const { session, refusal } = each;
    const trips = refusal.kind === 'blocked' && refusal.trips;
    const key = [session.accountId, refusal.rule, trips, destinationPrefix(session.phone)].join(' ');
    found.set(key, { ...each, times: (found.get(key)?.times ?? 0) + 1 });
  }
  return [...found.values()];
}
