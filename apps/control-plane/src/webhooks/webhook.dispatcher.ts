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
import { PerHostScheduler, type HostJob, type Taken } from './per-host.scheduler.js';
import { hostOf } from '../targets/target.js';
import { ATTEMPT_TIMEOUT_MS, type WebhookPoster } from './webhook-poster.js';

/** How often everything is looked for that nobody rang for (architecture: a missing job is found within 5 s). */
const RELAY_INTERVAL_MS = 2_000;
/** How far ahead a look sees: the next look is sure to come before this is over. */
const TIMER_HORIZON_MS = 2 * RELAY_INTERVAL_MS;
/** An attempt and its record must fit into what is left of the lease when it starts. */
const START_MARGIN_MS = ATTEMPT_TIMEOUT_MS + 5_000;
/** How long a stop waits for POSTs that are under way; their leases lapse, and another process repeats them. */
const STOP_GRACE_MS = 5_000;

interface Job extends HostJob {
  readonly delivery: ClaimedDelivery;
}

export interface WebhookDispatcherOptions {
  readonly store: Pick<
    DeliveryStore,
    'claimDueDeliveries' | 'dueTo' | 'postpone' | 'record' | 'release' | 'nextDueInMs'
  >;
  readonly poster: Pick<WebhookPoster, 'post' | 'close'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly secretsOf: (tenant: Tenant) => Promise<readonly string[]>;
  /** Told of every attempt that was recorded. */
  readonly onAttempt: (delivery: ClaimedDelivery, verdict: Verdict) => void;
  /** Shared with the outbox dispatcher: a dispatch and a claim at once would both use the same capacity of a host. */
  readonly mutex: Mutex;
  readonly onError: (error: unknown) => void;
  /** POSTs a second that one host gets. */
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
  private readonly periodic: PollLoop;
  /** Deliveries may have become due since the last claim. */
  private dueRang = false;
  private relayDueMs = 0;
  private alarm: NodeJS.Timeout | undefined;
  private timerFired = false;
  private stopping = false;

  constructor(private readonly options: WebhookDispatcherOptions) {
    this.backlog = new Backlog(options.store);
    this.scheduler = new PerHostScheduler<Job>({
      run: (job) => this.attempt(job.delivery),
      onCapacity: () => this.wake(),
      onDropped: (jobs) => this.giveBack(jobs),
      perSecond: options.hostPerSecond,
    });
    this.periodic = new PollLoop({
      everyMs: RELAY_INTERVAL_MS,
      work: () => options.mutex.runExclusive(() => this.run()),
      onError: options.onError,
    });
    this.periodic.trigger();
  }

  /** POSTs under way. */
  get inFlight(): number {
    return this.scheduler.inFlight;
  }

  /** Hosts that are left alone, or asked by one POST at a time, for they do not answer. */
  get brokenHosts(): number {
    return this.scheduler.broken;
  }

  /** Claims due deliveries soon. Never throws, never waits. */
  wake(): void {
    this.dueRang = true;
    this.periodic.trigger();
  }

  /** Somebody wants something sent there now: though it did not answer before, it is asked again at once. */
  wakeFor(url: string): void {
    this.scheduler.askAgain(hostOf(url));
    this.wake();
  }

  /** How many new deliveries to this host may be claimed as they are created. */
  capacityForNew(host: string): number {
    return this.scheduler.capacityForNew(host);
  }

  /** Sends deliveries that were claimed after `beforeClaimMs` (monotonic), from which the time of their leases is counted. */
  addClaimed({ claimed, leftOver }: NewDeliveries, beforeClaimMs: number): void {
    const startBeforeMs = beforeClaimMs + LEASE_SECONDS * 1_000 - START_MARGIN_MS;
    for (const delivery of claimed) this.scheduler.add({ host: hostOf(delivery.url), startBeforeMs, delivery });
    for (const host of leftOver) this.scheduler.noteLeftOver(host);
  }

  /** Claims no more, gives back what was not started, waits a little for the POSTs under way, and records them. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.alarm);
    await this.periodic.stop();
    await this.release(this.scheduler.dropWaiting());
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
    const relay = performance.now() >= this.relayDueMs;
    const [alarm, due] = [this.timerFired, this.dueRang];
    this.timerFired = this.dueRang = false;
    const putOff = relay ? await this.putOff() : 0;
    const more = relay || due ? await this.claim() : false;
    if (relay && putOff < MAX_POSTPONED) this.relayDueMs = performance.now() + RELAY_INTERVAL_MS;
    if (relay || alarm) await this.setTimer();
    if (more) this.dueRang = true;
    return more || putOff === MAX_POSTPONED;
  }

  /** How many deliveries were put off. A short pause is over before it is worth that; and no claim depends on it. */
  private async putOff(): Promise<number> {
    const paused = this.scheduler.pausedHosts().filter(({ leftMs }) => leftMs > RELAY_INTERVAL_MS);
    try {
      return await this.backlog.putOff(paused, this.scheduler.overloadedHosts());
    } catch (error) {
      this.options.onError(error);
      return 0;
    }
  }

  private async claim(): Promise<boolean> {
    const askedMs = performance.now();
    const claim = await this.options.store.claimDueDeliveries({
      fullHosts: this.scheduler.fullHosts(),
      capacityFor: (host) => this.scheduler.room(host),
    });
    this.addClaimed(claim, askedMs);
    return claim.more;
  }

  /** A retry starts at its time, not when the relay next looks. Its wait is longer than a look sees, so none is missed. */
  private async setTimer(): Promise<void> {
    const inMs = await this.options.store.nextDueInMs();
    clearTimeout(this.alarm);
    if (inMs === null || inMs > TIMER_HORIZON_MS || this.stopping) return;
    const notify = (): void => {
      this.timerFired = true;
      this.wake();
    };
    this.alarm = setTimeout(notify, Math.max(1, Math.ceil(inMs)));
    this.alarm.unref();
  }

  /** Whoever has room for them next takes them; until that is known, their leases keep them. */
  private giveBack(jobs: readonly Job[]): void {
    void this.release(jobs);
  }

  private async release(jobs: readonly Job[]): Promise<void> {
    await this.options.store.release(jobs.map(({ delivery }) => delivery)).catch(this.options.onError);
  }

  /** One attempt, and how the host took it. Never rejects. */
  private async attempt(delivery: ClaimedDelivery): Promise<Taken> {
    const { clock, onError } = this.options;
    try {
      const startedMs = clock.nowMs();
      const result = await this.post(delivery, startedMs);
      // Cut off by our own stop, and no fault of the receiver: the lease lapses and another process repeats it.
      if (this.stopping && result.kind === 'failed') return NOT_SENT;
      const endedMs = clock.nowMs();
      const number = delivery.attemptsMade + 1;
      const { beside } = delivery;
      const verdict = judgeAttempt({ result, number, startedMs, endedMs, beside }, Math.random());
      return { reply: replyOf(result, verdict), written: this.record(delivery, verdict) };
    } catch (error) {
      onError(error);
      return NOT_SENT;
    }
  }

  /** Never rejects: what is not recorded is repeated once the lease lapses, at least once as promised. */
  private async record(delivery: ClaimedDelivery, verdict: Verdict): Promise<void> {
    const { store, onAttempt, onError } = this.options;
    try {
      if (await store.record(delivery, verdict)) onAttempt(delivery, verdict);
    } catch (error) {
      onError(error);
    }
  }

  private async post({ id, url, body, ...owner }: ClaimedDelivery, nowMs: number): Promise<AttemptResult> {
    const secrets = await this.options.secretsOf(tenantOf(owner));
    return this.options.poster.post({ eventId: id, url, body, secrets, nowMs });
  }
}

const TOO_MANY_REQUESTS = 429;
/** Nothing came of it that could be written down, or that says anything of the host. */
const NOT_SENT: Taken = { reply: 'not_sent', written: Promise.resolve() };

/** Who asks for fewer is left alone like who does not answer. */
function replyOf(result: AttemptResult, { status, notSent }: Verdict): ReplyKind {
  if (notSent === true) return 'not_sent';
  if (status === 'succeeded') return 'success';
  const silent = result.kind === 'failed' || (result.kind === 'answered' && result.status === TOO_MANY_REQUESTS);
  return silent ? 'no_response' : 'error_response';
}
