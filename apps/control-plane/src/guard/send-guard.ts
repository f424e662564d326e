import { DestinationStore } from '@countersign/carriers/destinations';
import { destinationPrefix } from '@countersign/carriers/outbound';
import type { Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { ControlPlaneSettings, type OtpLimits } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { judgeDestination, judgeTraffic, type Destination, type GuardRefusal } from './guard-rules.js';
import { GuardObserver } from './guard.observer.js';
import { GuardStore, type LockedCounters, type Send } from './guard.store.js';
import type { SendKeys, SendCounters } from './send-counters.js';

/** A refusal of the guard, with the session of the send. */
export interface GuardedRefusal {
  readonly session: Send['session'] & { readonly id: Uuid };
  readonly refusal: GuardRefusal;
}

/** The sends of one transaction: each is checked against the traffic before it, including the sends added here. */
export class GuardedSends {
  /** The sends that were counted. */
  readonly added: Send[] = [];

  constructor(
    private readonly destinations: ReadonlyMap<Send, Destination>,
    /** Counters of the sends whose destination is not blocked; null if there are none. */
    readonly traffic: LockedCounters | null,
    private readonly limits: OtpLimits,
  ) {}

  /** Null if the code may be sent, else the refusal. */
  checkSend(send: Send): GuardRefusal | null {
    const destination = this.destinations.get(send);
    if (destination === undefined) throw new Error('send guard: the destination was not read');
    const blocked = judgeDestination(destination);
    if (blocked !== null) return blocked;
    const { sendCounters, keys } = this.countersOf(send);
    return judgeTraffic(sendCounters.trafficWith(keys), this.limits);
  }

  /** Counts a send that is allowed. */
  addSend(send: Send): void {
    const { sendCounters, keys } = this.countersOf(send);
    sendCounters.addSend(keys);
    this.added.push(send);
  }

  private countersOf(send: Send): { readonly sendCounters: SendCounters; readonly keys: SendKeys } {
    const keys = this.traffic?.keys.get(send);
    if (this.traffic === null || keys === undefined)
      throw new Error('send guard: the traffic of the send was not read');
    return { sendCounters: this.traffic.sendCounters, keys };
  }
}

/**
 * The toll-fraud guard: decides whether a code may be sent, so that attackers cannot earn money with codes to their own
 * numbers. Callers see that a destination is blocked; only admins see the rule.
 */
@Injectable()
export class SendGuard {
  constructor(
    private readonly store: GuardStore,
    private readonly destinations: DestinationStore,
    private readonly database: Database,
    @Inject(ControlPlaneSettings) private readonly settings: Pick<ControlPlaneSettings, 'otpLimits'>,
    @Inject(GuardObserver) private readonly observer: Pick<GuardObserver, 'onRefused' | 'onError'>,
  ) {}

  /**
   * Reads the state that decides about the sends. Destinations are judged before counters are locked, so sends to blocked
   * destinations lock none.
   */
  async openSends(tx: Executor, sends: readonly Send[]): Promise<GuardedSends> {
    const { otpLimits: limits } = this.settings;
    if (sends.length === 0) return new GuardedSends(new Map(), null, limits);
    const known = await this.store.readSends(tx, sends);
    const allowed = [...known.destinations].flatMap(([send, each]) => (judgeDestination(each) === null ? [send] : []));
    const traffic = allowed.length === 0 ? null : await this.store.openCounters(tx, allowed, known);
    return new GuardedSends(known.destinations, traffic, limits);
  }

  /** Writes the counted sends, in the same transaction. */
  async writeSends(tx: Executor, { traffic, added }: GuardedSends): Promise<void> {
    if (traffic !== null) await this.store.writeCounters(tx, traffic, added);
  }

  /**
   * Records refusals after the transaction: the blocks of tripped breakers, and the tallies. Never rejects: if the write
   * fails, the next send trips the breaker again.
   */
  async recordRefusals(refused: readonly GuardedRefusal[]): Promise<void> {
    for (const { refusal } of refused) this.observer.onRefused(refusal.rule);
    await this.recordAll(refused).catch((error: unknown) => this.observer.onError(error));
  }

  /** Concurrent statements, because the callers of the batch wait for them. */
  private async recordAll(refused: readonly GuardedRefusal[]): Promise<void> {
    if (refused.length === 0) return;
    const ofSessions = refused.map(({ session, refusal: { rule } }) => ({ sessionId: session.id, rule }));
    await Promise.all([
      ...mergeEqual(refused).map((each) => this.recordOne(each)),
      this.destinations.countSessionRefusals(this.database, ofSessions),
    ]);
  }

  private async recordOne({ session, refusal, times }: Repeated): Promise<void> {
    const { accountId, phone } = session;
    const prefix = destinationPrefix(phone);
    if (refusal.kind === 'blocked' && refusal.trips) {
      const { breakerSends, breakerPercent, breakerBlockSeconds } = this.settings.otpLimits;
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

/** Merges refusals of one account by one rule to one block of numbers, and counts them. */
function mergeEqual(refused: readonly GuardedRefusal[]): Repeated[] {
  const found = new Map<string, Repeated>();
  for (const each of refused) {
    const { session, refusal } = each;
    const trips = refusal.kind === 'blocked' && refusal.trips;
    const key = [session.accountId, refusal.rule, trips, destinationPrefix(session.phone)].join(' ');
    found.set(key, { ...each, times: (found.get(key)?.times ?? 0) + 1 });
  }
  return [...found.values()];
}
