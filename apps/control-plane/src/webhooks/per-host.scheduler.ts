import { KeyedTokenBuckets, type CircuitBreaker } from '@countersign/resilience';
import { AccountShares, type ShareOwner } from './account-shares.js';
import { hostBreaker, recordReply, type ReplyKind } from './host-circuit-breaker.js';
import { StalledHosts } from './stalled-hosts.js';
import { WaitingJobs } from './waiting-jobs.js';

/** Concurrent deliveries to one host (contract, Fairness). */
export const MAX_IN_FLIGHT_PER_HOST = 5;
/** Deliveries claimed for a healthy host at most: its next POST does not wait for the database. */
const MAX_CLAIMED_PER_HOST = 200;
/**
 * Attempts of one host whose records are under way. They do not count as in flight, but with this many no POST starts: POSTs
 * must not outrun a database that is slow or unavailable.
 */
const MAX_UNRECORDED_PER_HOST = 25;
/** Nothing is claimed ahead for slower hosts: the leases would end while their deliveries wait. */
const HEALTHY_LATENCY_MS = 500;
/** Deliveries claimed ahead wait up to this long, estimated from the host's rate and latency. */
const CLAIMED_AHEAD_SECONDS = 5;
/** Claimed deliveries of all hosts together: each holds a body, and any number of hosts may hang. */
const MAX_CLAIMED = 4_000;
/** Those of one account at most. */
const MAX_CLAIMED_PER_ACCOUNT = MAX_CLAIMED / 4;
/**
 * POSTs in flight to all hosts together: each holds a connection, up to 0.26 MB with a handshake of 12 KiB (`guarded-agent.ts`).
 * One account has at most as many as are free, so half of them.
 */
export const MAX_IN_FLIGHT = 384;
/** With this many, nothing more is claimed ahead: the rest is reserved for hosts with nothing in flight. */
const MAX_CLAIMED_AHEAD = 2_000;
/** Hosts without jobs whose latency or breaker is remembered, at most; the latest ones are kept. */
const MAX_REMEMBERED = 1_000;
/** Hosts whose rate is remembered at most; beyond it the least recently sent to starts with a full bucket. */
const MAX_RATED_HOSTS = 10_000;
/** Hosts checked for removal with each that is remembered. */
const MAX_CHECKED = 8;

export interface HostJob extends ShareOwner {
  readonly host: string;
  /** Monotonic time after which the job may no longer be started: its lease would end before its POST does. */
  readonly startBeforeMs: number;
}

/** The result of a job. */
export interface JobResult {
  readonly reply: ReplyKind;
  /** Settles once the result is recorded; the next job does not wait for it. Must not reject. */
  readonly recorded: Promise<void>;
}

export interface PerHostSchedulerOptions<Job extends HostJob> {
  /** Runs one job. Must not reject. */
  readonly run: (job: Job) => Promise<JobResult>;
  /** A host without capacity has some again. */
  readonly onCapacity: () => void;
  /** Jobs removed without a start: they waited too long, or the breaker of their host opened. */
  readonly onDropped: (jobs: readonly Job[]) => void;
  /** Jobs per second of one host, with a burst of one second's worth. */
  readonly perSecond: number;
  readonly nowMs?: () => number;
}

/** A host whose circuit breaker is open. */
export interface PausedHost {
  readonly host: string;
  /** Milliseconds left of the pause. */
  readonly leftMs: number;
}

interface HostQueue<Job extends ShareOwner> {
  readonly waiting: WaitingJobs<Job>;
  inFlight: number;
  /** Jobs done whose records are under way. */
  unrecorded: number;
  /** Latency of the last job if it succeeded below HEALTHY_LATENCY_MS, else null. */
  healthyLatencyMs: number | null;
  readonly breaker: CircuitBreaker;
  /** More deliveries may be due than were claimed: new capacity is reported. */
  hasLeftOver: boolean;
  /** Set while jobs wait only for the host's rate. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Runs jobs in one queue per destination host, with limits of concurrency and rate, so that a dead receiver fills only its own
 * queue. Within a host and between hosts accounts take turns, each with its share of the POSTs in flight. A circuit breaker per
 * host pauses a host that does not respond. Reports how many jobs may be claimed for a host and for an account.
 */
export class PerHostScheduler<Job extends HostJob> {
  private readonly queues = new Map<string, HostQueue<Job>>();
  private readonly nowMs: () => number;
  private idleResolvers: (() => void)[] = [];
  private running = 0;
  private unrecorded = 0;
  /** Jobs of all queues, waiting and unrecorded ones included. */
  private claimed = 0;
  /** More deliveries may be due than were claimed, of hosts without a queue. */
  private hasLeftOver = false;
  private readonly claims = new AccountShares(MAX_CLAIMED, MAX_CLAIMED_PER_ACCOUNT);
  private readonly connections = new AccountShares(MAX_IN_FLIGHT);
  /** Hosts whose jobs wait until their account may start one more. */
  private readonly stalled = new StalledHosts();
  private readonly mayStart = (owner: ShareOwner): boolean =>
    this.running < MAX_IN_FLIGHT && this.connections.capacityFor(owner) > 0;
  private readonly rate: KeyedTokenBuckets;
  private readonly claimedAhead: number;

  constructor(private readonly options: PerHostSchedulerOptions<Job>) {
    const { perSecond } = options;
    this.rate = new KeyedTokenBuckets({ perSecond, burstSeconds: 1, maxKeys: MAX_RATED_HOSTS });
    this.claimedAhead = options.perSecond * CLAIMED_AHEAD_SECONDS;
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Jobs that run. */
  get inFlight(): number {
    return this.running;
  }

  /** The number of hosts whose circuit breaker is open or half open. */
  get brokenHosts(): number {
    const nowMs = this.nowMs();
    return [...this.queues.values()].filter(({ breaker }) => breaker.state(nowMs) !== 'closed').length;
  }

  /** Hosts whose circuit breaker is open. */
  pausedHosts(): PausedHost[] {
    const nowMs = this.nowMs();
    return [...this.queues]
      .filter(([, { breaker }]) => breaker.state(nowMs) === 'open')
      .map(([host, { breaker }]) => ({ host, leftMs: breaker.openUntilMs - nowMs }));
  }

  /** Hosts with a closed breaker and more due deliveries than capacity. */
  overloadedHosts(): string[] {
    const nowMs = this.nowMs();
    return [...this.queues]
      .filter(([, { breaker, hasLeftOver }]) => hasLeftOver && breaker.state(nowMs) === 'closed')
      .map(([host]) => host);
  }

  /** Ends the pause of a host early: the next job is a probe. */
  probeNow(host: string): void {
    this.queues.get(host)?.breaker.halfOpen();
  }

  /** How many more jobs for this host may be claimed now. */
  capacityFor(host: string): number {
    if (this.claimed >= MAX_CLAIMED) return 0;
    const queue = this.queues.get(host);
    return queue === undefined ? MAX_IN_FLIGHT_PER_HOST : Math.max(0, this.claimLimitOf(queue) - claimedOf(queue));
  }

  /** How many more jobs of this account may be claimed now, to all hosts. */
  capacityForAccount(owner: ShareOwner): number {
    return this.claims.capacityFor(owner);
  }

  /** Accounts without capacity, of which nothing is to be claimed. Their next capacity is reported. */
  fullAccounts(): ShareOwner[] {
    return this.claims.fullOwners();
  }

  /** How many new jobs for this host may be claimed now: none while older ones of the host wait for capacity. */
  capacityForNew(host: string): number {
    return this.queues.get(host)?.hasLeftOver === true ? 0 : this.capacityFor(host);
  }

  /** Hosts without capacity, for which nothing is to be claimed. Their next capacity is reported. */
  fullHosts(): string[] {
    const full: string[] = [];
    for (const [host, queue] of this.queues) {
      if (this.capacityFor(host) > 0) continue;
      queue.hasLeftOver = true;
      full.push(host);
    }
    return full;
  }

  /** Notes that more deliveries were due than this host had capacity for. New capacity is reported, at once if there is some. */
  noteLeftOver(host: string): void {
    const queue = this.queues.get(host);
    if (this.claimed >= MAX_CLAIMED) this.hasLeftOver = true;
    else if (queue === undefined || this.hasFreeHalf(queue)) this.options.onCapacity();
    else queue.hasLeftOver = true;
  }

  add(job: Job): void {
    let queue = this.queues.get(job.host);
    if (queue === undefined) {
      queue = {
        waiting: new WaitingJobs(),
        inFlight: 0,
        unrecorded: 0,
        healthyLatencyMs: null,
        breaker: hostBreaker(),
        hasLeftOver: false,
        timer: undefined,
      };
      this.queues.set(job.host, queue);
    }
    queue.waiting.add(job);
    this.claimed += 1;
    this.claims.add(job);
    this.startNext(job.host, queue);
  }

  /** Removes all jobs that were not started. */
  removeWaiting(): Job[] {
    const jobs = [...this.queues.values()].flatMap((queue) => this.removeWaitingOf(queue));
    for (const job of jobs) this.claims.remove(job);
    return jobs;
  }

  /** Resolves once no job runs and all results are recorded. */
  idle(): Promise<void> {
    if (this.running + this.unrecorded === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleResolvers.push(resolve));
  }

  private startNext(host: string, queue: HostQueue<Job>): void {
    const state = queue.breaker.state(this.nowMs());
    const dropped = state === 'open' ? this.removeWaitingOf(queue) : [];
    const maxInFlight = state === 'half_open' ? 1 : MAX_IN_FLIGHT_PER_HOST;
    while (queue.inFlight < maxInFlight && queue.unrecorded < MAX_UNRECORDED_PER_HOST) {
      const waitMs = this.rate.waitMs(host, this.nowMs());
      if (waitMs > 0) this.advanceIn(waitMs, host, queue);
      const job = waitMs > 0 ? undefined : queue.waiting.take(this.mayStart);
      if (job === undefined) {
        if (waitMs === 0) this.stalled.add(host, queue.waiting.owners);
        break;
      }
      if (job.startBeforeMs > this.nowMs()) void this.start(host, queue, job);
      else {
        dropped.push(job);
        this.claimed -= 1;
      }
    }
    if (dropped.length > 0) this.drop(dropped);
    if (claimedOf(queue) === 0 && queue.breaker.isPristine && queue.healthyLatencyMs === null) this.queues.delete(host);
  }

  /** Moves the host to the end of the queues, and removes idle queues of the least recent hosts. */
  private keepRecent(host: string, queue: HostQueue<Job>): void {
    this.queues.delete(host);
    this.queues.set(host, queue);
    let checks = MAX_CHECKED;
    for (const [other, idle] of this.queues) {
      if (this.queues.size <= MAX_REMEMBERED || checks === 0) return;
      if (claimedOf(idle) === 0) this.queues.delete(other);
      checks -= 1;
    }
  }

  private async start(host: string, queue: HostQueue<Job>, job: Job): Promise<void> {
    queue.inFlight += 1;
    this.running += 1;
    this.connections.add(job);
    const startedMs = this.nowMs();
    this.rate.take(host, startedMs);
    const { reply, recorded } = await this.options.run(job);
    const endedMs = this.nowMs();
    queue.healthyLatencyMs =
      reply === 'success' && endedMs - startedMs < HEALTHY_LATENCY_MS ? endedMs - startedMs : null;
    recordReply(queue.breaker, reply, endedMs);
    if (reply === 'no_response' || reply === 'success') this.keepRecent(host, queue);
    queue.inFlight -= 1;
    this.running -= 1;
    this.connections.remove(job);
    queue.unrecorded += 1;
    this.unrecorded += 1;
    this.startStalled(host, queue);
    this.advance(host, queue);
    await recorded;
    queue.unrecorded -= 1;
    this.unrecorded -= 1;
    this.claimed -= 1;
    const accountHasCapacity = this.claims.remove(job);
    this.advance(host, queue);
    if (accountHasCapacity) this.options.onCapacity();
    if (this.running + this.unrecorded === 0) for (const resolve of this.idleResolvers.splice(0)) resolve();
  }

  /** Starts jobs of accounts that may start one more; the host of the ended one waits for its turn behind the others. */
  private startStalled(ended: string, endedQueue: HostQueue<Job>): void {
    if (this.stalled.isEmpty) return;
    this.stalled.add(ended, endedQueue.waiting.owners);
    let host = this.stalled.take(this.mayStart);
    while (host !== undefined) {
      const queue = this.queues.get(host);
      if (queue !== undefined) this.startNext(host, queue);
      host = this.stalled.take(this.mayStart);
    }
  }

  /** Starts the next jobs and reports new capacity. */
  private advance(host: string, queue: HostQueue<Job>): void {
    const queueHasCapacity = queue.hasLeftOver && this.hasFreeHalf(queue);
    if (queueHasCapacity) queue.hasLeftOver = false;
    const allHaveCapacity = this.hasLeftOver && 2 * this.claimed <= MAX_CLAIMED;
    if (allHaveCapacity) this.hasLeftOver = false;
    this.startNext(host, queue);
    if (queueHasCapacity || allHaveCapacity) this.options.onCapacity();
  }

  /** Advances once the host's rate allows the next job: nothing else may happen to the queue before. */
  private advanceIn(waitMs: number, host: string, queue: HostQueue<Job>): void {
    if (queue.waiting.length === 0) return;
    queue.timer ??= setTimeout(() => {
      queue.timer = undefined;
      if (this.queues.get(host) === queue) this.advance(host, queue);
    }, Math.ceil(waitMs));
  }

  private removeWaitingOf(queue: HostQueue<Job>): Job[] {
    clearTimeout(queue.timer);
    queue.timer = undefined;
    this.claimed -= queue.waiting.length;
    return queue.waiting.clear();
  }

  /** Reports jobs that are not run, and then the capacity that their accounts have again. */
  private drop(jobs: readonly Job[]): void {
    let accountHasCapacity = false;
    for (const job of jobs) accountHasCapacity = this.claims.remove(job) || accountHasCapacity;
    this.options.onDropped(jobs);
    if (accountHasCapacity) this.options.onCapacity();
  }

  private claimLimitOf(queue: HostQueue<Job>): number {
    const state = queue.breaker.state(this.nowMs());
    if (state !== 'closed') return state === 'half_open' ? 1 : 0;
    if (queue.healthyLatencyMs === null || this.claimed >= MAX_CLAIMED_AHEAD) return MAX_IN_FLIGHT_PER_HOST;
    const sentInTime = (MAX_IN_FLIGHT_PER_HOST * CLAIMED_AHEAD_SECONDS * 1_000) / Math.max(1, queue.healthyLatencyMs);
    return Math.floor(Math.min(sentInTime, this.claimedAhead, MAX_CLAIMED_PER_HOST));
  }

  /** Whether half of what may be claimed is free: worth another claim. */
  private hasFreeHalf(queue: HostQueue<Job>): boolean {
    const limit = this.claimLimitOf(queue);
    return limit > 0 && 2 * claimedOf(queue) <= limit;
  }
}

/** Jobs of a host that are claimed and not yet recorded. */
const claimedOf = ({ waiting, inFlight, unrecorded }: HostQueue<ShareOwner>): number =>
  waiting.length + inFlight + unrecorded;
