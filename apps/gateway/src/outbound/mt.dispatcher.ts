import { isBindLease, leaseKey, type BindLease } from '@countersign/carriers/leases';
import type { AttemptRecord, MtPlan } from '@countersign/carriers/outbound';
import { LeasedWorker, type Claim } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStart, OnStop } from '../composition/phases.js';
import { AttemptRunner } from './attempt.runner.js';
import { MtClaimer, type TimedClaim } from './mt-claimer.js';
import { OtherGateways } from './other-gateways.js';
import { OutboundMetrics } from './outbound.metrics.js';

/** Poll interval for due messages without a notification. */
const POLL_INTERVAL_MS = 2_000;
/** Maximum consecutive full polls: a message deferred by the first must not be due again before the last. */
const MAX_POLLS_IN_A_ROW = 20;
/** Delay before messages left to other gateways are polled again. */
const RETRY_DEFERRED_MS = 1_000;
/** Delay after which messages left to this gateway by another are due. */
const HANDED_OVER_MS = 60;

/**
 * Dispatches codes: claims due rows, submits them and records the outcomes. Notifications only trigger a poll of the rows,
 * so a lost one costs two seconds, a duplicate nothing, and several gateways can dispatch concurrently. Every attempt is
 * claimed and counted before it is made. No transaction is open while waiting for a carrier.
 */
@Injectable()
export class MtDispatcher {
  private readonly worker: LeasedWorker<TimedClaim>;
  private fullPollsInARow = 0;

  constructor(
    private readonly claimer: MtClaimer,
    private readonly attempts: AttemptRunner,
    private readonly others: OtherGateways,
    private readonly metrics: OutboundMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.worker = new LeasedWorker({
      jobs: { claim: () => this.claimDue(), run: (claimed) => attempts.runAttempt(claimed) },
      intervalMs: POLL_INTERVAL_MS,
      onError: (err) => logger.warn({ err }, 'MT dispatcher: codes could not be claimed; retrying'),
    });
  }

  @OnStart('start sending')
  start(): void {
    this.worker.start();
  }

  /** Polls at once: a message may be due, or a link may have capacity. Never throws or blocks. */
  trigger(): void {
    this.worker.trigger();
  }

  /** Polls after the delay of a hand-over: another gateway left messages to this one. */
  triggerAfterHandOver(): void {
    this.worker.triggerIn(HANDED_OVER_MS);
  }

  /** Polls at once when recorded messages are to be retried, and when a full link has capacity again. */
  triggerAfterRecords(records: readonly AttemptRecord[]): void {
    if (this.fullPollsInARow > 0 || records.some(({ outcome }) => outcome.kind !== 'submitted')) this.trigger();
  }

  /** Claims no further message. */
  @OnStop('stop sending')
  stopClaiming(): Promise<void> {
    return this.worker.stopClaiming();
  }

  /** Resolves when every attempt is recorded; an unbinding link ends all its attempts. */
  @OnStop('drain batchers')
  async drain(): Promise<void> {
    await this.worker.drain();
    await this.attempts.drain();
  }

  /** Resolves when every attempt under this lease is recorded, or its code has ended without the database. */
  async waitForRecords(lease: BindLease): Promise<void> {
    const key = leaseKey(lease);
    await this.worker.drain(({ plan: { link } }) => isBindLease(link) && leaseKey(link) === key);
  }

  private async claimDue(): Promise<Claim<TimedClaim>> {
    const {
      claimed: jobs,
      isFull,
      plans,
      lapsedFault,
    } = await this.claimer.claimDueMessages(this.worker.jobs.map(({ message: { id } }) => id));
    if (lapsedFault !== null)
      this.logger.warn({ err: lapsedFault }, 'MT dispatcher: a code of a gateway that is gone cannot be queued again');
    this.countFailures(plans);
    this.setTimers(plans);
    this.fullPollsInARow = isFull ? this.fullPollsInARow + 1 : 0;
    if (this.fullPollsInARow === 0) this.claimer.endSeries();
    return { jobs, more: this.fullPollsInARow > 0 && this.fullPollsInARow % MAX_POLLS_IN_A_ROW !== 0 };
  }

  private countFailures(plans: readonly MtPlan[]): void {
    const failed = plans.filter(({ kind }) => kind === 'fail').length;
    if (failed > 0) this.metrics.attempts.inc({ outcome: 'failed' }, failed);
  }

  /** Sets timers for waiting messages, so that they do not depend on the poll interval. */
  private setTimers(plans: readonly MtPlan[]): void {
    for (const plan of plans)
      if (plan.kind === 'wait') this.worker.triggerIn(plan.elsewhere ? RETRY_DEFERRED_MS : plan.ms);
    if (plans.some((plan) => plan.kind === 'wait' && plan.elsewhere)) this.others.announceDeferred();
  }
}
