import { JobNotifier } from '@countersign/bus';
import { MtMessageStore, type MtClaim, type MtPlan } from '@countersign/carriers/outbound';
import { Injectable } from '@nestjs/common';
import { Database, type DataError } from '@countersign/postgres';
import { MtPlanner } from './mt.planner.js';
import { DueQueries } from './due-queries.js';

/** The messages claimed by one poll, and the plans of all messages that it read. */
interface PolledMessages extends Pick<MtClaim, 'claimed' | 'due'> {
  readonly plans: readonly MtPlan[];
  /** Of a message whose claim has expired and that cannot be requeued; null for none. */
  readonly lapsedFault: DataError | null;
}

/** Claims due messages, each with its plan, in one transaction per poll. */
@Injectable()
export class MtClaimer {
  constructor(
    private readonly database: Database,
    private readonly mtMessages: MtMessageStore,
    private readonly queries: DueQueries,
    private readonly planner: MtPlanner,
    private readonly notifier: JobNotifier,
  ) {}

  /** Resolves after the commit. */
  async claimDueMessages(): Promise<PolledMessages> {
    const routing = await this.planner.readRouting();
    const query = this.queries.next();
    const lapsedFault = await this.mtMessages.requeueLapsed(this.database, query);
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
    return { claimed: claim.claimed, due: claim.due, plans, lapsedFault };
  }

  /** The consecutive full polls have ended. */
  endSeries(): void {
    this.planner.resetDeferred();
  }
}
