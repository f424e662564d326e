import { PollLoop } from '@countersign/schedule';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { Mutex } from '../events/mutex.js';
import { FailureLog } from '../operations/failure-log.js';
import type { ShareOwner } from './account-shares.js';
import { Backlog } from './backlog.js';
import {
  LEASE_SECONDS,
  MAX_POSTPONED,
  ClaimFailed,
  type ClaimedDelivery,
  DeliveryStore,
  type NewDeliveries,
} from './delivery.store.js';
import { PerHostScheduler, type HostJob } from './per-host.scheduler.js';
import { hostOf } from '../targets/target.js';
import { WebhookAttempts } from './webhook-attempts.js';
import { ATTEMPT_TIMEOUT_MS } from './webhook-poster.js';

/** How often due deliveries are claimed without a wake-up (architecture: a missing job is found within 5 s). */
const POLL_INTERVAL_MS = 2_000;
/** The timer is set for deliveries that fall due within this time: the next poll comes before it is over. */
const TIMER_HORIZON_MS = 2 * POLL_INTERVAL_MS;
/** An attempt starts only while its lease has this much left: the time of the attempt and of its record. */
const START_MARGIN_MS = ATTEMPT_TIMEOUT_MS + 5_000;
/** How long a stop waits for POSTs under way. Later ones are repeated by another process after the end of their leases. */
const STOP_GRACE_MS = 5_000;

interface Job extends HostJob {
  readonly delivery: ClaimedDelivery;
}

/**
 * Sends webhooks: from due deliveries to recorded attempts. Rows decide what is sent, so a lost wake-up costs two seconds, a
 * doubled one nothing, and any number of processes may send. Deliveries are claimed and recorded in sets, and no transaction
 * is open while a receiver is waited for.
 */
@Injectable()
export class WebhookDispatcher {
  private readonly onError: (error: unknown) => void;
  private readonly scheduler: PerHostScheduler<Job>;
  private readonly backlog: Backlog;
  private readonly loop: PollLoop;
  /** Deliveries may have become due since the last claim. */
  private claimRequested = false;
  /** Monotonic. */
  private pollDueMs = 0;
  private timer: NodeJS.Timeout | undefined;
  private timerFired = false;
  private stopping = false;

  constructor(
    @Inject(DeliveryStore)
    private readonly store: Pick<
      DeliveryStore,
      'claimDueDeliveries' | 'countDueTo' | 'postponeDeliveries' | 'releaseDeliveries' | 'nextDueInMs'
    >,
    private readonly attempts: WebhookAttempts,
    /** Shared with the outbox dispatcher: a dispatch and a claim at once would both use the same capacity of a host. */
    mutex: Mutex,
    @Inject(ControlPlaneSettings) { webhookHostPerSecond }: Pick<ControlPlaneSettings, 'webhookHostPerSecond'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onError = failures.about('webhook dispatcher: claiming, sending or recording deliveries');
    this.backlog = new Backlog(store);
    this.scheduler = new PerHostScheduler<Job>({
      run: (job) => attempts.attemptDelivery(job.delivery),
      onCapacity: () => this.wake(),
      onDropped: (jobs) => void this.releaseJobs(jobs),
      perSecond: webhookHostPerSecond,
    });
    this.loop = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => mutex.runExclusive(() => this.run()),
      onError: this.onError,
    });
    this.loop.trigger();
  }

  /** POSTs under way. */
  get inFlight(): number {
    return this.scheduler.inFlight;
  }

  /** Hosts whose circuit breaker is open or half open. */
  get brokenHosts(): number {
    return this.scheduler.brokenHosts;
  }

  /** Claims due deliveries soon. Never throws, never waits. */
  wake(): void {
    this.claimRequested = true;
    this.loop.trigger();
  }

  /** Claims soon, and allows a probe of this host at once even if its circuit breaker is open. */
  wakeFor(url: string): void {
    this.scheduler.probeNow(hostOf(url));
    this.wake();
  }

  /** How many new deliveries to this host may be claimed as they are created. */
  capacityForNew(host: string): number {
    return this.scheduler.capacityForNew(host);
  }

  /** How many more deliveries of this account may be claimed. */
  capacityForAccount(owner: ShareOwner): number {
    return this.scheduler.capacityForAccount(owner);
  }

  /** Sends deliveries that were claimed after `beforeClaimMs` (monotonic), from which the time of their leases is counted. */
  addClaimed({ claimed, leftOver }: NewDeliveries, beforeClaimMs: number): void {
    const startBeforeMs = beforeClaimMs + LEASE_SECONDS * 1_000 - START_MARGIN_MS;
    for (const delivery of claimed) {
      const { url, accountId, test } = delivery;
      this.scheduler.add({ host: hostOf(url), accountId, test, startBeforeMs, delivery });
    }
    for (const host of leftOver) this.scheduler.noteLeftOver(host);
  }

  /** Claims no more, releases deliveries that were not started, and waits up to 5 s for the POSTs under way and their records. */
  @OnStop('deliveries')
  async stop(): Promise<void> {
    this.stopping = true;
    this.attempts.stop();
    clearTimeout(this.timer);
    await this.loop.stop();
    await this.releaseJobs(this.scheduler.removeWaiting());
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    await Promise.race([this.scheduler.idle(), grace]);
    clearTimeout(timer);
    await this.attempts.close();
  }

  /** True when more is waiting. */
  private async run(): Promise<boolean> {
    const isPollDue = performance.now() >= this.pollDueMs;
    const [timerFired, claimRequested] = [this.timerFired, this.claimRequested];
    this.timerFired = this.claimRequested = false;
    const postponed = isPollDue ? await this.postponeBacklog() : 0;
    const more = isPollDue || claimRequested ? await this.claimDue(isPollDue) : false;
    if (isPollDue && postponed < MAX_POSTPONED) this.pollDueMs = performance.now() + POLL_INTERVAL_MS;
    if (isPollDue || timerFired) await this.setTimer();
    if (more) this.claimRequested = true;
    return more || postponed === MAX_POSTPONED;
  }

  /** Resolves with the number of postponed deliveries. Shorter pauses end before the next poll; claims go on if this fails. */
  private async postponeBacklog(): Promise<number> {
    const paused = this.scheduler.pausedHosts().filter(({ leftMs }) => leftMs > POLL_INTERVAL_MS);
    try {
      return await this.backlog.postpone(paused, this.scheduler.overloadedHosts());
    } catch (error) {
      this.onError(error);
      return 0;
    }
  }

  /** True when another claim at once may find more. A poll also reads past the backlogs of single accounts. */
  private async claimDue(isPollDue: boolean): Promise<boolean> {
    const startedMs = performance.now();
    try {
      const claim = await this.store.claimDueDeliveries({
        pastBacklogs: isPollDue,
        fullHosts: this.scheduler.fullHosts(),
        fullAccounts: this.scheduler.fullAccounts(),
        capacityFor: (host) => this.scheduler.capacityFor(host),
        capacityForAccount: (owner) => this.scheduler.capacityForAccount(owner),
      });
      this.addClaimed(claim, startedMs);
      return claim.more;
    } catch (error) {
      if (!(error instanceof ClaimFailed)) throw error;
      this.onError(error);
      return true;
    }
  }

  /** Starts retries at their time instead of at the next poll. Waits are longer than the horizon, so none is missed. */
  private async setTimer(): Promise<void> {
    const inMs = await this.store.nextDueInMs();
    clearTimeout(this.timer);
    if (inMs === null || inMs > TIMER_HORIZON_MS || this.stopping) return;
    const onDue = (): void => {
      this.timerFired = true;
      this.wake();
    };
    this.timer = setTimeout(onDue, Math.max(1, Math.ceil(inMs)));
    this.timer.unref();
  }

  /** Never rejects. Deliveries that could not be released are claimed again after the end of their leases. */
  private async releaseJobs(jobs: readonly Job[]): Promise<void> {
    await this.store.releaseDeliveries(jobs.map(({ delivery }) => delivery)).catch(this.onError);
  }
}
