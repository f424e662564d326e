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
import { Timers, PollLoop } from '@countersign/schedule';
import type { AttemptMaker } from './attempt-maker.js';
import type { SubmitQueues } from './submit-queues.js';
import { deliveryPlan } from './delivery-plan.js';
import type { OtherGateways } from './other-gateways.js';

/** How often everything is looked for that nobody rang for. */
const RELAY_INTERVAL_MS = 2_000;
/** Messages decided in one transaction at most. */
const MAX_LOOK = 100;
/** Looks in a row at most: what was put off by the first of them must not be due again before the last. */
const LOOKS_IN_A_ROW = 20;
/** Messages that are left to other gateways are left to them for the rest of this time. */
const LOOK_AGAIN_MS = 1_000;
/** What another gateway leaves to this one is due by then. */
const HANDED_OVER_MS = 60;
/** Sessions last for minutes: what is older is left over from a long stop, and looked for now and then. */
const HORIZON_MS = 24 * 60 * 60 * 1_000;
const FULL_LOOK_INTERVAL_MS = 10 * 60 * 1_000;
/** How far the clock of whoever made an id may be ahead of ours. */
const CLOCK_SLACK_MS = 60_000;
const MAX_QUEUED_RECORDS = 10_000;
/** An attempt has been made and cannot be unmade: its record is tried again while its lease lasts. */
const RECORD_DEADLINE_MS = 10_000;
const RECORD_AGAIN_MS = 500;

/** Where messages may go. */
interface Ways {
  readonly routes: readonly Route[];
  readonly boundElsewhere: ReadonlySet<Uuid>;
}

export interface WebhookDispatcherOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** This gateway. */
  readonly self: Uuid;
  readonly ledger: Pick<MtMessageStore, 'claimDueMessages' | 'recordAttempts'>;
  readonly routes: Pick<RouteDirectory, 'usableRoutes'>;
  readonly queues: Pick<SubmitQueues, 'roomFor' | 'take' | 'free'>;
  readonly attempts: Pick<AttemptMaker, 'make'>;
  readonly others: Pick<OtherGateways, 'binds' | 'mayHave' | 'leave'>;
  readonly maxBatch: number;
  /** Told after the commit which events it holds. Must neither throw nor wait. */
  readonly onEvents: (ids: readonly Uuid[]) => void;
  /** Told of what came of every attempt, and of messages that were given up (`failed`), by number. */
  readonly onOutcome: (outcome: AttemptOutcome['kind'] | 'failed', count: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Moves codes: from rows that are due to submits, from answers to rows. A ring only wakes it; all it does is decided by
 * rows, so a lost ring costs two seconds, a doubled one nothing, and any number of gateways may pump at once. Every
 * attempt is claimed, and counted, before it is made; no transaction is open while a carrier is waited for.
 */
export class MtDispatcher {
  private readonly records: Batcher<AttemptRecord, null>;
  /** Attempts, their records included, and the leases that they are made under. */
  private readonly underWay = new Map<Promise<void>, string>();
  private readonly alarms = new Timers(() => this.wake());
  private periodic: PollLoop | undefined;
  private nextFullLookMs = -Infinity;
  private looksInARow = 0;
  /** Messages that found every bind full since the looks in a row began. */
  private rejectedConnections = 0;

  constructor(private readonly o: WebhookDispatcherOptions) {
    this.records = new Batcher({
      name: 'outbound.record',
      run: (records) => this.recordAll(records),
      keysOf: ({ id }) => [id],
      maxBatch: o.maxBatch,
      maxInFlight: 2,
      maxQueued: MAX_QUEUED_RECORDS,
      deadlineMs: RECORD_DEADLINE_MS,
    });
  }

  start(): void {
    const { onError } = this.o;
    this.periodic = new PollLoop({ everyMs: RELAY_INTERVAL_MS, work: () => this.look(), onError });
    this.periodic.trigger();
  }

  /** Something may be due, or a bind may have room. Never throws, never waits. */
  wake(): void {
    this.periodic?.trigger();
  }

  /** Another gateway left something for this one. */
  wakeSoon(): void {
    this.alarms.fireIn(HANDED_OVER_MS);
  }

  /** Claims no more. */
  async stopClaiming(): Promise<void> {
    await this.periodic?.stop();
    this.periodic = undefined;
    this.alarms.clear();
  }

  /** Resolves once every attempt is recorded; an unbinding link settles all of its own. */
  async drain(): Promise<void> {
    await Promise.all(this.underWay.keys());
    await this.records.drain();
  }

  /** Resolves once every attempt under this lease is recorded; without the database, when their time is over. */
  async settled(lease: BindLease): Promise<void> {
    const key = leaseKey(lease);
    await Promise.all([...this.underWay].flatMap(([attempt, under]) => (under === key ? [attempt] : [])));
  }

  /** True when more is waiting. */
  private async look(): Promise<boolean> {
    const routes = await this.o.routes.usableRoutes();
    const boundElsewhere = await this.o.others.binds();
    const ids = this.idsOfInterest();
    const ways = { routes, boundElsewhere };
    const { claim, plans } = await this.o.database.transaction((tx) => this.claimDue(tx, ways, ids));
    if (claim.eventIds.length > 0) this.o.onEvents(claim.eventIds);
    for (const message of claim.claimed) this.begin(message);
    this.noteFailures(plans);
    this.setTimers(plans);
    this.looksInARow = claim.due === MAX_LOOK ? this.looksInARow + 1 : 0;
    if (this.looksInARow === 0) this.rejectedConnections = 0;
    return this.looksInARow > 0 && this.looksInARow % LOOKS_IN_A_ROW !== 0;
  }

  private async claimDue(
    tx: Executor,
    ways: Ways,
    ids: Pick<DueQuery, 'fromId' | 'beforeId'>,
  ): Promise<{ readonly claim: DeliveryClaim; readonly plans: readonly DeliveryPlan[] }> {
    const plans: DeliveryPlan[] = [];
    const planned = new Map<string, number>();
    const look = { limit: MAX_LOOK, claimedBy: this.o.self, ...ids };
    const claim = await this.o.ledger.claimDueMessages(tx, look, (message) => {
      const plan = this.planOf(message, ways, planned);
      if (plan.kind === 'send') planned.set(slotKey(plan.lease), (planned.get(slotKey(plan.lease)) ?? 0) + 1);
      if (plan.kind === 'wait' && !plan.afresh && !plan.elsewhere) this.rejectedConnections++;
      plans.push(plan);
      return plan;
    });
    return { claim, plans };
  }

  private planOf(message: DueMessage, ways: Ways, planned: ReadonlyMap<string, number>): DeliveryPlan {
    return deliveryPlan(message, {
      routes: routesInOrder(ways.routes, message.destination, Math.random),
      roomOf: (bindId) => this.o.queues.roomFor(bindId, planned),
      boundElsewhere: (bindId) =>
        ways.boundElsewhere.has(bindId) && this.o.others.mayHave(message.id, performance.now()),
      rejectedConnections: this.rejectedConnections,
      chance: Math.random(),
    });
  }

  private begin(claimed: ClaimedMessage): void {
    this.o.queues.take(claimed.plan.lease);
    const attempt = this.attempt(claimed).finally(() => this.underWay.delete(attempt));
    this.underWay.set(attempt, leaseKey(claimed.plan.lease));
  }

  /** One attempt with its record. Never rejects. */
  private async attempt(claimed: ClaimedMessage): Promise<void> {
    const { message, plan, attempt } = claimed;
    const endsMs = performance.now() + plan.leaseSeconds * 1_000;
    const outcome = await this.o.attempts.make(claimed);
    this.o.queues.free(plan.lease);
    const { carrier, lease } = plan;
    await this.record({ id: message.id, attempt, carrier, lease, outcome }, endsMs);
  }

  private async record(record: AttemptRecord, endsMs: number): Promise<void> {
    for (;;) {
      try {
        await this.records.add(record);
        this.o.onOutcome(record.outcome.kind, 1);
        return;
      } catch (error) {
        this.o.onError(error);
        // Not recorded: the lease lapses, and the fate counts as unknown.
        if (performance.now() + RECORD_AGAIN_MS > endsMs) return;
        await delay(RECORD_AGAIN_MS);
      }
    }
  }

  private async recordAll(records: readonly AttemptRecord[]): Promise<null[]> {
    const eventIds = await this.o.database.transaction((tx) => this.o.ledger.recordAttempts(tx, records));
    if (eventIds.length > 0) this.o.onEvents(eventIds);
    // What has to be tried again is due at once; and where there was more than room for, there is room now.
    if (this.looksInARow > 0 || records.some(({ outcome }) => outcome.kind !== 'submitted')) this.wake();
    return records.map(() => null);
  }

  private noteFailures(plans: readonly DeliveryPlan[]): void {
    const failed = plans.filter(({ kind }) => kind === 'fail').length;
    if (failed > 0) this.o.onOutcome('failed', failed);
  }

  /** A message that waits is looked at in its time, not when the relay next looks; one that is left to others later. */
  private setTimers(plans: readonly DeliveryPlan[]): void {
    for (const plan of plans) if (plan.kind === 'wait') this.alarms.fireIn(plan.elsewhere ? LOOK_AGAIN_MS : plan.ms);
    if (plans.some((plan) => plan.kind === 'wait' && plan.elsewhere)) this.o.others.leave();
  }

  /** Usually the partitions of the last day, now and then all of them. */
  private idsOfInterest(): Pick<DueQuery, 'fromId' | 'beforeId'> {
    const nowMs = this.o.clock.nowMs();
    const beforeId = firstIdAt(nowMs + CLOCK_SLACK_MS);
    if (nowMs < this.nextFullLookMs) return { fromId: firstIdAt(nowMs - HORIZON_MS), beforeId };
    this.nextFullLookMs = nowMs + FULL_LOOK_INTERVAL_MS;
    return { fromId: firstIdAt(0), beforeId };
  }
}
