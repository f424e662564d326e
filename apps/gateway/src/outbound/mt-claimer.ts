import { JobNotifier } from '@countersign/bus';
import { MtMessageStore, type ClaimedMessage, type MtClaim, type MtPlan } from '@countersign/carriers/outbound';
import { elapsedMs } from '@countersign/schedule';
import type { Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import { Database, type DataError } from '@countersign/postgres';
import { MtPlanner } from './mt.planner.js';
import { DueQueries } from './due-queries.js';

const MS_PER_SECOND = 1_000;
/**
 * After an outage of the database gateways that live have this time to renew their rows and record their outcomes, before others
 * take back what they had claimed.
 */
const RECORDING_MS = 10_000;

/** A claimed message, and the end of its claim by `elapsedMs`: it is not sent from then on. */
export interface TimedClaim extends ClaimedMessage {
  readonly endsMs: number;
}

/** The messages claimed by one poll, and the plans of all messages that it read. */
interface PolledMessages extends Pick<MtClaim, 'isFull'> {
  readonly claimed: readonly TimedClaim[];
  readonly plans: readonly MtPlan[];
  /** Of a message whose claim has expired and that cannot be requeued; null for none. */
  readonly lapsedFault: DataError | null;
}

/** Claims due messages, each with its plan, in one transaction per poll. */
@Injectable()
export class MtClaimer {
  #takesBackFromMs = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly mtMessages: MtMessageStore,
    private readonly queries: DueQueries,
    private readonly planner: MtPlanner,
    private readonly notifier: JobNotifier,
  ) {}

  /** Resolves after the commit. `inFlight`: messages that were claimed before and are not recorded yet. */
  async claimDueMessages(inFlight: readonly Uuid[]): Promise<PolledMessages> {
    try {
      return await this.claim(inFlight);
    } catch (error) {
      this.#takesBackFromMs = performance.now() + RECORDING_MS;
      throw error;
    }
  }

  /** The consecutive full polls have ended. */
  endSeries(): void {
    this.planner.resetDeferred();
  }

  private async claim(inFlight: readonly Uuid[]): Promise<PolledMessages> {
    const routing = await this.planner.readRouting();
    const query = this.queries.next({ inFlight, mayTakeBack: performance.now() >= this.#takesBackFromMs });
    const lapsedFault = await this.mtMessages.requeueLapsed(this.database, query);
    // Before the claims are written, so that none ends earlier in the database than here.
    const startedMs = elapsedMs();
    const { claim, plans } = await this.database.transaction(async (tx) => {
      const made: MtPlan[] = [];
      const planned = new Map<string, number>();
      const claimed = await this.mtMessages.claimDueMessages(tx, query, (message) => {
        const plan = this.planner.planDelivery(message, routing, planned);
        made.push(plan);
        return plan;
      });
      return { claim: claimed, plans: made };
    });
    if (claim.eventIds.length > 0) this.notifier.notify(claim.eventIds);
    const claimed = claim.claimed.map((message) => {
      return { ...message, endsMs: startedMs + message.plan.leaseSeconds * MS_PER_SECOND };
    });
    return { claimed, isFull: claim.isFull, plans, lapsedFault };
  }
}
