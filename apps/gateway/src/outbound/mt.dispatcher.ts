import type { AttemptRecord, DeliveryPlan } from '@countersign/carriers/outbound';
import { PollLoop, Timers } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { OnStart, OnStop } from '../lifecycle/phases.js';
import { AttemptRunner } from './attempt.runner.js';
import { MAX_MESSAGES_PER_POLL } from './due-queries.js';
import { MtClaimer } from './mt-claimer.js';
import { OtherGateways } from './other-gateways.js';
import { OutboundMetrics } from './outbound.metrics.js';

/** Poll interval for due messages without a notification. */
const RELAY_INTERVAL_MS = 2_000;
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
  private readonly timers = new Timers(() => this.trigger());
  private pollLoop: PollLoop | undefined;
  private fullPollsInARow = 0;

  constructor(
    private readonly claimer: MtClaimer,
    private readonly attempts: AttemptRunner,
    private readonly others: OtherGateways,
    private readonly metrics: OutboundMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @OnStart('start sending')
  start(): void {
    this.pollLoop = new PollLoop({
      everyMs: RELAY_INTERVAL_MS,
      work: () => this.dispatchDue(),
      onError: (err) => this.logger.warn({ err }, 'MT dispatcher: codes could not be claimed or recorded; retrying'),
    });
    this.pollLoop.trigger();
  }

  /** Polls at once: a message may be due, or a bind may have capacity. Never throws or blocks. */
  trigger(): void {
    this.pollLoop?.trigger();
  }

  /** Polls after the delay of a hand-over: another gateway left messages to this one. */
  triggerAfterHandOver(): void {
    this.timers.fireIn(HANDED_OVER_MS);
  }

  /** Polls at once when recorded messages are to be retried, and when a full bind has capacity again. */
  triggerAfterRecords(records: readonly AttemptRecord[]): void {
    if (this.fullPollsInARow > 0 || records.some(({ outcome }) => outcome.kind !== 'submitted')) this.trigger();
  }

  /** Claims no further message. */
  @OnStop('stop sending')
  async stopClaiming(): Promise<void> {
    await this.pollLoop?.stop();
    this.pollLoop = undefined;
    this.timers.clear();
  }

  /** Claims and starts due messages. Resolves to true when more are due. */
  private async dispatchDue(): Promise<boolean> {
    const { claimed, due, plans } = await this.claimer.claimDueMessages();
    for (const message of claimed) this.attempts.startAttempt(message);
    this.countFailures(plans);
    this.setTimers(plans);
    this.fullPollsInARow = due === MAX_MESSAGES_PER_POLL ? this.fullPollsInARow + 1 : 0;
    if (this.fullPollsInARow === 0) this.claimer.endSeries();
    return this.fullPollsInARow > 0 && this.fullPollsInARow % MAX_POLLS_IN_A_ROW !== 0;
  }

  private countFailures(plans: readonly DeliveryPlan[]): void {
    const failed = plans.filter(({ kind }) => kind === 'fail').length;
    if (failed > 0) this.metrics.attempts.inc({ outcome: 'failed' }, failed);
  }

  /** Sets timers for waiting messages, so that they do not depend on the poll interval. */
  private setTimers(plans: readonly DeliveryPlan[]): void {
    for (const plan of plans)
      if (plan.kind === 'wait') this.timers.fireIn(plan.elsewhere ? RETRY_DEFERRED_MS : plan.ms);
    if (plans.some((plan) => plan.kind === 'wait' && plan.elsewhere)) this.others.announceDeferred();
  }
}
