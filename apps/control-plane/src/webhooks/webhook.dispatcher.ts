import { tenantOf, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Backlog } from './backlog.js';
import { judgeAttempt, type AttemptResult, type Verdict } from './attempt.js';
import {
  LEASE_SECONDS,
  MAX_POSTPONED,
  MAX_SET,
  type Claim,
  type ClaimedDelivery,
  type DeliveryStore,
  type Dispatch,
  type RoomFor,
} from './delivery.store.js';
import type { ReplyKind } from './host-circuit-breaker.js';
import { PerHostScheduler, type HostJob, type Taken } from './per-host.scheduler.js';
import { hostOf } from '../targets/target.js';
import { ATTEMPT_TIMEOUT_MS, type WebhookPoster } from './webhook-poster.js';

/** How often everything is looked for that nobody rang for (architecture: a missing job is found within 5 s). */
const RELAY_INTERVAL_MS = 2_000;
/** How far ahead a look sees: the next look is sure to come before this is over. */
const TIMER_HORIZON_MS = 2 * RELAY_INTERVAL_MS;
/** Ids of rings that wait for a run at most; more are found by the relay. */
const MAX_RUNG = 5_000;
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
    'dispatchNamed' | 'dispatchForgotten' | 'claim' | 'dueTo' | 'postpone' | 'record' | 'release' | 'nextDueInMs'
  >;
  readonly poster: Pick<WebhookPoster, 'post' | 'close'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly secretsOf: (tenant: Tenant) => Promise<readonly string[]>;
  /** Told of every attempt that was recorded. */
  readonly onAttempt: (delivery: ClaimedDelivery, verdict: Verdict) => void;
  readonly onError: (error: unknown) => void;
  /** POSTs a second that one host gets. */
  readonly hostPerSecond: number;
}

/**
 * Moves webhooks: from events that nobody has taken to deliveries, from due deliveries to POSTs. A ring only wakes it
 * and names the events to begin with; all it does is decided by rows, so a lost ring costs two seconds, a doubled one
 * nothing, and any number of processes may pump at once. Rows are taken, claimed and recorded in sets, and no
 * transaction is open while a receiver is waited for.
 */
export class WebhookDispatcher {
  private readonly scheduler: PerHostScheduler<Job>;
  private readonly backlog: Backlog;
  private readonly periodic: PollLoop;
  private rung: Uuid[] = [];
  /** Deliveries may be due that no ring of an event names. */
  private dueRang = false;
  /** The last look at forgotten events found more than one set. */
  private moreForgotten = false;
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
      work: () => this.run(),
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

  /** These events were just committed; without any, something else may be due. Never throws, never waits. */
  wake(eventIds: readonly Uuid[] = []): void {
    if (eventIds.length === 0) this.dueRang = true;
    if (this.rung.length + eventIds.length <= MAX_RUNG) this.rung.push(...eventIds);
    this.periodic.trigger();
  }

  /** Somebody wants something sent there now: though it did not answer before, it is asked again at once. */
  wakeFor(url: string): void {
    this.scheduler.askAgain(hostOf(url));
    this.wake();
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
    const named = this.rung.splice(0, MAX_SET);
    const forgotten = await this.dispatch(named, relay || this.moreForgotten);
    this.moreForgotten = forgotten === MAX_SET;
    const putOff = relay ? await this.putOff() : 0;
    const more = relay || due ? await this.claim() : false;
    if (relay && putOff < MAX_POSTPONED) this.relayDueMs = performance.now() + RELAY_INTERVAL_MS;
    if (relay || alarm) await this.setTimer();
    if (more) this.dueRang = true;
    return more || this.rung.length > 0 || this.moreForgotten || putOff === MAX_POSTPONED;
  }

  /** How many forgotten events became deliveries. Events that cannot must not keep deliveries that can from being made. */
  private async dispatch(named: readonly Uuid[], forgotten: boolean): Promise<number> {
    const { store, onError } = this.options;
    try {
      if (named.length > 0) await this.take((roomFor) => store.dispatchNamed(named, roomFor));
      return forgotten ? (await this.take((roomFor) => store.dispatchForgotten(roomFor))).taken : 0;
    } catch (error) {
      onError(error);
      return 0;
    }
  }

  /** Deliveries of new events; those for which there is room are ours from the start. */
  private async take(dispatch: (roomFor: RoomFor) => Promise<Dispatch>): Promise<Dispatch> {
    const askedMs = performance.now();
    const made = await dispatch((host) => this.scheduler.capacityForNew(host));
    this.begin(made, askedMs);
    return made;
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
    const claim = await this.options.store.claim({
      fullHosts: this.scheduler.fullHosts(),
      roomFor: (host) => this.scheduler.room(host),
    });
    this.begin(claim, askedMs);
    return claim.more;
  }

  /** The time that they have is counted from before they were claimed, so that it errs on the safe side. */
  private begin({ claimed, leftOver }: Pick<Claim, 'claimed' | 'leftOver'>, askedMs: number): void {
    const startBeforeMs = askedMs + LEASE_SECONDS * 1_000 - START_MARGIN_MS;
    for (const delivery of claimed) this.scheduler.add({ host: hostOf(delivery.url), startBeforeMs, delivery });
    for (const host of leftOver) this.scheduler.noteLeftOver(host);
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
