import { setTimeout as delay } from 'node:timers/promises';
import { leaseKey, slotKey, type BindLease } from '@countersign/carriers/leases';
import type {
  AttemptOutcome,
  AttemptRecord,
  ClaimedMessage,
  DeliveryClaim,
  MtMessageStore,
  DeliveryPlan,
  DueQuery,
  DueMessage,
} from '@countersign/carriers/outbound';
import { routesInOrder, type Route, type RouteDirectory } from '@countersign/carriers/routes';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { Batcher, type Database, type DatabaseClock, type Executor } from '@countersign/postgres';
import { LeasedWorker, type Claim } from '@countersign/schedule';
import type { AttemptMaker } from './attempt-maker.js';
import type { SubmitQueues } from './submit-queues.js';
import { deliveryPlan } from './delivery-plan.js';
import type { OtherGateways } from './other-gateways.js';

/** Poll interval for due messages without a notification. */
const RELAY_INTERVAL_MS = 2_000;
/** Maximum messages planned in one transaction. */
const MAX_MESSAGES_PER_POLL = 100;
/** Maximum consecutive full polls: a message deferred by the first must not be due again before the last. */
const MAX_POLLS_IN_A_ROW = 20;
/** Delay before messages left to other gateways are polled again. */
const RETRY_DEFERRED_MS = 1_000;
/** Delay after which messages left to this gateway by another are due. */
const HANDED_OVER_MS = 60;
/** Age limit of a regular poll. Sessions last minutes; older messages remain after a long stop, and full scans find them. */
const HORIZON_MS = 24 * 60 * 60 * 1_000;
const FULL_SCAN_INTERVAL_MS = 10 * 60 * 1_000;
/** Tolerated clock difference of the process that created an id. */
const CLOCK_SLACK_MS = 60_000;
const MAX_QUEUED_RECORDS = 10_000;
/** Time limit of one try to record an outcome; the record is retried while the lease of the attempt lasts. */
const RECORD_DEADLINE_MS = 10_000;
const RECORD_RETRY_MS = 500;

/** Routes, and binds bound at other gateways. */
interface RoutingState {
  readonly routes: readonly Route[];
  readonly boundElsewhere: ReadonlySet<Uuid>;
}

export interface MtDispatcherOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** Id of this gateway. */
  readonly self: Uuid;
  readonly mtMessages: Pick<MtMessageStore, 'claimDueMessages' | 'recordAttempts'>;
  readonly routes: Pick<RouteDirectory, 'usableRoutes'>;
  readonly queues: Pick<SubmitQueues, 'capacityOf' | 'reserve' | 'release'>;
  readonly attempts: Pick<AttemptMaker, 'makeAttempt'>;
  readonly others: Pick<OtherGateways, 'boundBinds' | 'mayDefer' | 'announceDeferred'>;
  readonly maxBatch: number;
  /** Receives the event ids of a transaction after its commit. Must neither throw nor block. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  /** Called with the outcome of every attempt, and with the number of messages that failed for good (`failed`). */
  readonly onOutcome: (outcome: AttemptOutcome['kind'] | 'failed', count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Dispatches codes: claims due rows, submits them and records the outcomes. Notifications only trigger a poll of the rows,
 * so a lost one costs two seconds, a duplicate nothing, and several gateways can dispatch concurrently. Every attempt is
 * claimed and counted before it is made. No transaction is open while waiting for a carrier.
 */
export class MtDispatcher {
  private readonly records: Batcher<AttemptRecord, null>;
  private readonly worker: LeasedWorker<ClaimedMessage>;
  private nextFullScanMs = -Infinity;
  private fullPollsInARow = 0;
  /** Messages deferred because every bind was full, since the consecutive polls began. */
  private deferred = 0;

  constructor(private readonly o: MtDispatcherOptions) {
    this.worker = new LeasedWorker({
      intervalMs: RELAY_INTERVAL_MS,
      claim: () => this.claimDue(),
      run: (claimed) => this.attemptAndRecord(claimed),
      onError: o.onError,
    });
    this.records = new Batcher({
      name: 'outbound.record',
      run: (records) => this.recordBatch(records),
      keysOf: ({ id }) => [id],
      maxBatch: o.maxBatch,
      maxInFlight: 2,
      maxQueued: MAX_QUEUED_RECORDS,
      deadlineMs: RECORD_DEADLINE_MS,
    });
  }

  start(): void {
    this.worker.start();
  }

  /** Polls at once: a message may be due, or a bind may have capacity. Never throws or blocks. */
  trigger(): void {
    this.worker.trigger();
  }

  /** Polls after the delay of a hand-over: another gateway left messages to this one. */
  triggerAfterHandOver(): void {
    this.worker.triggerIn(HANDED_OVER_MS);
  }

  /** Claims no further message. */
  stopClaiming(): Promise<void> {
    return this.worker.stopClaiming();
  }

  /** Resolves when every attempt is recorded; an unbinding link ends all its attempts. */
  async drain(): Promise<void> {
    await this.worker.drain();
    await this.records.drain();
  }

  /** Resolves when every attempt under this lease is recorded, or has reached its time limit without the database. */
  async waitForRecords(lease: BindLease): Promise<void> {
    const key = leaseKey(lease);
    await this.worker.drain(({ plan }) => leaseKey(plan.lease) === key);
  }

  private async claimDue(): Promise<Claim<ClaimedMessage>> {
    const routes = await this.o.routes.usableRoutes();
    const boundElsewhere = await this.o.others.boundBinds();
    const ids = this.dueIdRange();
    const routing = { routes, boundElsewhere };
    const { claim, plans } = await this.o.database.transaction((tx) => this.claimDueMessages(tx, routing, ids));
    if (claim.eventIds.length > 0) this.o.onEvents(claim.eventIds);
    this.countFailures(plans);
    this.setTimers(plans);
    this.fullPollsInARow = claim.due === MAX_MESSAGES_PER_POLL ? this.fullPollsInARow + 1 : 0;
    if (this.fullPollsInARow === 0) this.deferred = 0;
    const more = this.fullPollsInARow > 0 && this.fullPollsInARow % MAX_POLLS_IN_A_ROW !== 0;
    return { jobs: claim.claimed, more };
  }

  private async claimDueMessages(
    tx: Executor,
    routing: RoutingState,
    ids: Pick<DueQuery, 'fromId' | 'beforeId'>,
  ): Promise<{ readonly claim: DeliveryClaim; readonly plans: readonly DeliveryPlan[] }> {
    const plans: DeliveryPlan[] = [];
    const planned = new Map<string, number>();
    const poll = { limit: MAX_MESSAGES_PER_POLL, claimedBy: this.o.self, ...ids };
    const claim = await this.o.mtMessages.claimDueMessages(tx, poll, (message) => {
      const plan = this.planOf(message, routing, planned);
      if (plan.kind === 'send') planned.set(slotKey(plan.lease), (planned.get(slotKey(plan.lease)) ?? 0) + 1);
      if (plan.kind === 'wait' && !plan.afresh && !plan.elsewhere) this.deferred++;
      plans.push(plan);
      return plan;
    });
    return { claim, plans };
  }

  private planOf(message: DueMessage, routing: RoutingState, planned: ReadonlyMap<string, number>): DeliveryPlan {
    return deliveryPlan(message, {
      routes: routesInOrder(routing.routes, message.destination, Math.random),
      capacityOf: (bindId) => this.o.queues.capacityOf(bindId, planned),
      boundElsewhere: (bindId) =>
        routing.boundElsewhere.has(bindId) && this.o.others.mayDefer(message.id, performance.now()),
      deferred: this.deferred,
      random: Math.random(),
    });
  }

  /** One attempt with its record. Never rejects. */
  private async attemptAndRecord(claimed: ClaimedMessage): Promise<void> {
    const { message, plan, attempt } = claimed;
    this.o.queues.reserve(plan.lease);
    const endsMs = performance.now() + plan.leaseSeconds * 1_000;
    const outcome = await this.o.attempts.makeAttempt(claimed);
    this.o.queues.release(plan.lease);
    const { carrier, lease } = plan;
    await this.recordOutcome({ id: message.id, attempt, carrier, lease, outcome }, endsMs);
  }

  private async recordOutcome(record: AttemptRecord, endsMs: number): Promise<void> {
    for (;;) {
      try {
        await this.records.add(record);
        this.o.onOutcome(record.outcome.kind, 1);
        return;
      } catch (error) {
        this.o.onError(error);
        // Not recorded: the lease of the attempt expires, and its fate counts as unknown.
        if (performance.now() + RECORD_RETRY_MS > endsMs) return;
        await delay(RECORD_RETRY_MS);
      }
    }
  }

  private async recordBatch(records: readonly AttemptRecord[]): Promise<null[]> {
    const eventIds = await this.o.database.transaction((tx) => this.o.mtMessages.recordAttempts(tx, records));
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    // Messages to be retried are due at once, and a full bind has capacity again.
    if (this.fullPollsInARow > 0 || records.some(({ outcome }) => outcome.kind !== 'submitted')) this.trigger();
    return records.map(() => null);
  }

  private countFailures(plans: readonly DeliveryPlan[]): void {
    const failed = plans.filter(({ kind }) => kind === 'fail').length;
    if (failed > 0) this.o.onOutcome('failed', failed);
  }

  /** Sets timers for waiting messages, so that they do not depend on the poll interval. */
  private setTimers(plans: readonly DeliveryPlan[]): void {
    for (const plan of plans)
      if (plan.kind === 'wait') this.worker.triggerIn(plan.elsewhere ? RETRY_DEFERRED_MS : plan.ms);
    if (plans.some((plan) => plan.kind === 'wait' && plan.elsewhere)) this.o.others.announceDeferred();
  }

  /** The id range of the last day, and at intervals of all rows, to limit the partitions read. */
  private dueIdRange(): Pick<DueQuery, 'fromId' | 'beforeId'> {
    const nowMs = this.o.clock.nowMs();
    const beforeId = firstIdAt(nowMs + CLOCK_SLACK_MS);
    if (nowMs < this.nextFullScanMs) return { fromId: firstIdAt(nowMs - HORIZON_MS), beforeId };
    this.nextFullScanMs = nowMs + FULL_SCAN_INTERVAL_MS;
    return { fromId: firstIdAt(0), beforeId };
  }
}
