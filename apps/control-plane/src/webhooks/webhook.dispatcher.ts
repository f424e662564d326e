import type { Uuid } from '@countersign/ids';
import { tenantOf, type Tenant } from '@countersign/keys';
import type { DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { Mutex } from '../events/mutex.js';
import { Backlog } from './backlog.js';
import { judgeAttempt, type AttemptResult, type Verdict } from './attempt.js';
import {
  LEASE_SECONDS,
  MAX_POSTPONED,
  type ClaimedDelivery,
  type DeliveryStore,
  type NewDeliveries,
} from './delivery.store.js';
import type { ReplyKind } from './host-circuit-breaker.js';
import { PerHostScheduler, type HostJob, type JobResult } from './per-host.scheduler.js';
import { hostOf } from '../targets/target.js';
import { ATTEMPT_TIMEOUT_MS, type WebhookPoster } from './webhook-poster.js';

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

export interface WebhookDispatcherOptions {
  readonly store: Pick<
    DeliveryStore,
    'claimDueDeliveries' | 'countDueTo' | 'postponeDeliveries' | 'recordAttempt' | 'releaseDeliveries' | 'nextDueInMs'
  >;
  readonly poster: Pick<WebhookPoster, 'post' | 'close'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly secretsOf: (tenant: Tenant) => Promise<readonly string[]>;
  /** Called with every recorded attempt. */
  readonly onAttempt: (delivery: ClaimedDelivery, verdict: Verdict) => void;
  /** Shared with the outbox dispatcher: a dispatch and a claim at once would both use the same capacity of a host. */
  readonly mutex: Mutex;
  readonly onError: (error: unknown) => void;
  /** POSTs per second to one host at most. */
  readonly hostPerSecond: number;
}

/**
 * Sends webhooks: from due deliveries to recorded attempts. Rows decide what is sent, so a lost wake-up costs two seconds, a
 * doubled one nothing, and any number of processes may send. Deliveries are claimed and recorded in sets, and no transaction
 * is open while a receiver is waited for.
 */
export class WebhookDispatcher {
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

  constructor(private readonly options: WebhookDispatcherOptions) {
    this.backlog = new Backlog(options.store);
    this.scheduler = new PerHostScheduler<Job>({
      run: (job) => this.attemptDelivery(job.delivery),
      onCapacity: () => this.wake(),
      onDropped: (jobs) => void this.releaseJobs(jobs),
      perSecond: options.hostPerSecond,
    });
    this.loop = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => options.mutex.runExclusive(() => this.run()),
      onError: options.onError,
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
  capacityForAccount(accountId: Uuid): number {
    return this.scheduler.capacityForAccount(accountId);
  }

  /** Sends deliveries that were claimed after `beforeClaimMs` (monotonic), from which the time of their leases is counted. */
  addClaimed({ claimed, leftOver }: NewDeliveries, beforeClaimMs: number): void {
    const startBeforeMs = beforeClaimMs + LEASE_SECONDS * 1_000 - START_MARGIN_MS;
    for (const delivery of claimed) {
      const { url, accountId } = delivery;
      this.scheduler.add({ host: hostOf(url), accountId, startBeforeMs, delivery });
    }
    for (const host of leftOver) this.scheduler.noteLeftOver(host);
  }

  /** Claims no more, releases deliveries that were not started, and waits up to 5 s for the POSTs under way and their records. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.loop.stop();
    await this.releaseJobs(this.scheduler.removeWaiting());
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    await Promise.race([this.scheduler.idle(), grace]);
    clearTimeout(timer);
    await this.options.poster.close();
  }

  /** True when more is waiting. */
  private async run(): Promise<boolean> {
    const isPollDue = performance.now() >= this.pollDueMs;
    const [timerFired, claimRequested] = [this.timerFired, this.claimRequested];
    this.timerFired = this.claimRequested = false;
    const postponed = isPollDue ? await this.postponeBacklog() : 0;
    const more = isPollDue || claimRequested ? await this.claimDue() : false;
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
      this.options.onError(error);
      return 0;
    }
  }

  /** True when another claim at once may find more. */
  private async claimDue(): Promise<boolean> {
    const startedMs = performance.now();
    const claim = await this.options.store.claimDueDeliveries({
      fullHosts: this.scheduler.fullHosts(),
      fullAccounts: this.scheduler.fullAccounts(),
      capacityFor: (host) => this.scheduler.capacityFor(host),
      capacityForAccount: (accountId) => this.scheduler.capacityForAccount(accountId),
    });
    this.addClaimed(claim, startedMs);
    return claim.more;
  }

  /** Starts retries at their time instead of at the next poll. Waits are longer than the horizon, so none is missed. */
  private async setTimer(): Promise<void> {
    const inMs = await this.options.store.nextDueInMs();
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
    await this.options.store.releaseDeliveries(jobs.map(({ delivery }) => delivery)).catch(this.options.onError);
  }

  /** Makes one attempt. Never rejects. */
  private async attemptDelivery(delivery: ClaimedDelivery): Promise<JobResult> {
    const { clock, onError } = this.options;
    try {
      const startedMs = clock.nowMs();
      const result = await this.postDelivery(delivery, startedMs);
      // Aborted by our own stop, not by the receiver: another process repeats it after the end of the lease.
      if (this.stopping && result.kind === 'failed') return NOT_SENT;
      const endedMs = clock.nowMs();
      const number = delivery.attemptsMade + 1;
      const { beside } = delivery;
      const verdict = judgeAttempt({ result, number, startedMs, endedMs, beside }, Math.random());
      return { reply: replyOf(result, verdict), recorded: this.recordAttempt(delivery, verdict) };
    } catch (error) {
      onError(error);
      return NOT_SENT;
    }
  }

  /** Never rejects: an attempt without a record is repeated after the end of its lease (at-least-once delivery). */
  private async recordAttempt(delivery: ClaimedDelivery, verdict: Verdict): Promise<void> {
    const { store, onAttempt, onError } = this.options;
    try {
      if (await store.recordAttempt(delivery, verdict)) onAttempt(delivery, verdict);
    } catch (error) {
      onError(error);
    }
  }

  private async postDelivery({ id, url, body, ...owner }: ClaimedDelivery, nowMs: number): Promise<AttemptResult> {
    const secrets = await this.options.secretsOf(tenantOf(owner));
    return this.options.poster.post({ eventId: id, url, body, secrets, nowMs });
  }
}

const TOO_MANY_REQUESTS = 429;
/** An attempt without a result: there is nothing to record, and it says nothing about the host. */
const NOT_SENT: JobResult = { reply: 'not_sent', recorded: Promise.resolve() };

/** A 429 counts as no response: the host is paused. */
function replyOf(result: AttemptResult, { status, notSent }: Verdict): ReplyKind {
  if (notSent === true) return 'not_sent';
  if (status === 'succeeded') return 'success';
  const isSilent = result.kind === 'failed' || (result.kind === 'answered' && result.status === TOO_MANY_REQUESTS);
  return isSilent ? 'no_response' : 'error_response';
}
