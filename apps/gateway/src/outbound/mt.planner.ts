import { linkKey } from '@countersign/carriers/leases';
import type { MtPlan, DueMessage } from '@countersign/carriers/outbound';
import { type OpenRoute, RouteDirectory, routesInOrder } from '@countersign/carriers/routes';
import { mtPlan } from '@countersign/carriers/planning';
import type { Uuid } from '@countersign/ids';
import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { OtherGateways } from './other-gateways.js';
import { SubmitQueues } from './submit-queues.js';

/** Routes, and links bound at other gateways. */
interface RoutingState {
  readonly routes: readonly OpenRoute[];
  readonly boundElsewhere: ReadonlySet<Uuid>;
}

/** Plans due messages: over which connection each is sent now, or why not. */
@Injectable()
export class MtPlanner {
  /** Messages deferred because every link was full, since the consecutive polls began. */
  private deferred = 0;
  private unconnectedListener: (systemId: Uuid) => void = () => undefined;

  constructor(
    private readonly routes: RouteDirectory,
    private readonly others: OtherGateways,
    private readonly queues: SubmitQueues,
  ) {}

  /** Sets the listener called for each code with a route to a system that no gateway has connected. Must not throw. */
  onUnconnected(listener: (systemId: Uuid) => void): void {
    this.unconnectedListener = listener;
  }

  /** Rejects with the database's error. */
  async readRouting(): Promise<RoutingState> {
    const routes = await this.routes.usableRoutes();
    const boundElsewhere = await this.others.boundLinks();
    return { routes, boundElsewhere };
  }

  /** `planned`: number of messages planned in this transaction for each connection, by `linkKey`; updated. */
  planDelivery(message: DueMessage, { routes, boundElsewhere }: RoutingState, planned: Map<string, number>): MtPlan {
    const plan = mtPlan(message, {
      routes: routesInOrder(routesFor(message, routes), message.destination, Math.random),
      capacityOf: (target) => {
        const capacity = this.queues.capacityOf(target, planned);
        const { systemId } = target;
        if (capacity === null && systemId !== null && !boundElsewhere.has(systemId)) this.unconnectedListener(systemId);
        return capacity;
      },
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

/**
 * The code of a sign-in to the console is as good as its phone, so it goes over trusted links alone: an engineer who is no owner may
 * make a bind and a route of their own, but decides no peer of a trusted link.
 */
const routesFor = ({ accountId }: DueMessage, routes: readonly OpenRoute[]): readonly OpenRoute[] =>
  accountId === SIGN_IN_ACCOUNT_ID ? routes.filter(({ targetTrusted }) => targetTrusted) : routes;
