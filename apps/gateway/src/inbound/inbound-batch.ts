import { JobNotifier } from '@countersign/bus';
import { BindLeaseStore, leaseKey } from '@countersign/carriers/leases';
import { Injectable } from '@nestjs/common';
import { Database, type Executor } from '@countersign/postgres';
import type { InboundVerdict } from '@countersign/session/rules';
import { ArrivalReader, type Arrival } from './arrival.reader.js';
import type { InboundCommand } from './inbound-command.js';
import { SessionMatcher } from './session.matcher.js';

/**
 * Processes a set of MOs in one transaction: stores parts of long messages, matches sessions by token, and stores the
 * messages with their fates. Resolves after the commit with one verdict per command, in order. Safe to run twice: a stored
 * message is unchanged, and a session approved by the first run makes the second a duplicate. The verdict is null for an MO
 * over a connection whose lease is not held: nothing is written, and the carrier resends it to another gateway.
 */
@Injectable()
export class InboundBatch {
  constructor(
    private readonly database: Database,
    private readonly reader: ArrivalReader,
    private readonly leases: BindLeaseStore,
    private readonly matcher: SessionMatcher,
    private readonly notifier: JobNotifier,
  ) {}

  async storeAndMatch(commands: readonly InboundCommand[]): Promise<readonly (InboundVerdict | null)[]> {
    const arrived = await this.reader.readArrivals(commands);
    const { verdicts, eventIds } = await this.database.transaction(async (tx) => {
      const accepted = await this.withHeldLease(tx, arrived);
      const matched = await this.matcher.matchSessions(tx, accepted);
      return { verdicts: verdictsOf(arrived, accepted, matched.verdicts), eventIds: matched.eventIds };
    });
    if (eventIds.length > 0) this.notifier.notify(eventIds);
    arrived.forEach((arrival, index) => {
      if (verdicts[index] !== null) this.reader.observeSender(arrival);
    });
    return verdicts;
  }

  /** The MOs over connections whose lease is held according to the database. */
  private async withHeldLease(tx: Executor, arrived: readonly Arrival[]): Promise<readonly Arrival[]> {
    const leases = arrived.flatMap(([{ link }]) => (link.lease === undefined ? [] : [link.lease]));
    if (leases.length === 0) return arrived;
    const holding = await this.leases.findHeldLeases(tx, leases);
    return arrived.filter(([{ link }]) => link.lease === undefined || holding.has(leaseKey(link.lease)));
  }
}

/** The verdicts in the order of `arrived`; null for messages that were not accepted. */
function verdictsOf(
  arrived: readonly Arrival[],
  accepted: readonly Arrival[],
  verdicts: readonly InboundVerdict[],
): (InboundVerdict | null)[] {
  if (accepted.length !== verdicts.length) throw new RangeError('lists of different lengths');
  let next = 0;
  return arrived.map((arrival) => (arrival === accepted[next] ? (verdicts[next++] ?? null) : null));
}
