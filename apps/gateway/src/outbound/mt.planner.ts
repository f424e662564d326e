import { linkKey } from '@countersign/carriers/leases';
import type { MtPlan, DueMessage } from '@countersign/carriers/outbound';
import { RouteDirectory, routesInOrder, type Route } from '@countersign/carriers/routes';
import type { Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import { mtPlan } from './mt-plan.js';
import { OtherGateways } from './other-gateways.js';
import { SubmitQueues } from './submit-queues.js';

/** Routes, and links bound at other gateways. */
interface RoutingState {
  readonly routes: readonly Route[];
  readonly boundElsewhere: ReadonlySet<Uuid>;
}

/** Plans due messages: over which connection each is sent now, or why not. */
@Injectable()
export class MtPlanner {
  /** Messages deferred because every link was full, since the consecutive polls began. */
  private deferred = 0;

  constructor(
    private readonly routes: RouteDirectory,
    private readonly others: OtherGateways,
    private readonly queues: SubmitQueues,
  ) {}

  /** Rejects with the database's error. */
  async readRouting(): Promise<RoutingState> {
    const routes = await this.routes.usableRoutes();
    const boundElsewhere = await this.others.boundLinks();
    return { routes, boundElsewhere };
  }

  /** `planned`: number of messages planned in this transaction for each connection, by `linkKey`; updated. */
  planDelivery(message: DueMessage, { routes, boundElsewhere }: RoutingState, planned: Map<string, number>): MtPlan {
    const plan = mtPlan(message, {
      routes: routesInOrder(routes, message.destination, Math.random),
      capacityOf: (target) => this.queues.capacityOf(target, planned),
      boundElsewhere: (linkId) => boundElsewhere.has(linkId) && this.others.mayDefer(message.id, performance.now()),
      deferred: this.deferred,
      random: Math.random(),
    });
    if (plan.kind === 'send') planned.set(linkKey(plan.link), (planned.get(linkKey(plan.link)) ?? 0) + 1);
    if (plan.kind === 'wait' && !plan.afresh && !plan.elsewhere) this.deferred++;
    return plan;
  }

  /** The consecutive polls have ended. */
  resetDeferred(): void {
    this.deferred = 0;
  }
}
