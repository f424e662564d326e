import { destinationPrefix, DestinationStore } from '@countersign/carriers';
import { Database, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import {
  isAllowed,
  judgeDestination,
  judgeTraffic,
  type GuardLimits,
  type GuardRefusal,
  type GuardRule,
} from './guard-rules.js';
import { GuardStore, type Send } from './guard.store.js';

/** A class, so that Nest can inject it. */
export class GuardOptions {
  constructor(
    readonly limits: GuardLimits,
    /** Told of every refusal, once it is written down. */
    readonly onRefused: (rule: GuardRule) => void,
  ) {}
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
   * Judges a send and counts it, in the transaction that sends it; a refused one is to be rolled back. What needs no
   * counter is asked first: traffic to a blocked destination waits for nobody, and nobody for it.
   */
  async judge(tx: Executor, send: Send): Promise<GuardRefusal | null> {
    const destination = await this.store.readDestination(tx, send);
    const refused = judgeDestination(destination);
    if (refused !== null) return refused;
    return judgeTraffic(await this.store.countSend(tx, send), this.options.limits, isAllowed(destination.rules));
  }

  /** Writes down what was refused, once the send is rolled back: all that is left of it. */
  async record({ accountId, phone }: Send['session'], refusal: GuardRefusal): Promise<void> {
    const prefix = destinationPrefix(phone);
    if (refusal.kind === 'blocked' && refusal.trips) {
      const { breakerSends, breakerPercent, breakerBlockSeconds } = this.options.limits;
      const reason = `Of ${breakerSends} or more codes in 15 minutes fewer than ${breakerPercent} % were used.`;
      await this.destinations.block(this.database, { accountId, prefix, reason, blockSeconds: breakerBlockSeconds });
    }
    await this.destinations.tally(this.database, accountId, refusal.rule, prefix);
    this.options.onRefused(refusal.rule);
  }
}
