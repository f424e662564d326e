import { afterReply, probeNow, breakerState, CLOSED, type Breaker, type ReplyKind } from './host-circuit-breaker.js';
import { HostRate } from './host-rate.js';

/** Deliveries to one host at the same time (contract, Fairness). */
export const MAX_IN_FLIGHT_PER_HOST = 5;
/** Claimed ahead for a host that answers well at most, so that its next POST need not wait for the database. */
const MAX_CLAIMED_PER_HOST = 200;
/**
 * Answers of one host that are being written down. They hold no place of a POST, but are waited for beyond this: a database
 * that is away is not outrun by more POSTs that nobody will know of.
 */
const MAX_UNRECORDED_PER_HOST = 25;
/** A host that takes longer than this gets nothing claimed ahead: its leases would run out while they wait. */
const HEALTHY_LATENCY_MS = 500;
/** What is claimed ahead waits no longer than this, by the host's rate and by the time that it takes to answer. */
const CLAIMED_AHEAD_SECONDS = 5;
/** Of all hosts together: any number of them may hang at once, and each job is a body and maybe a socket. */
const MAX_CLAIMED = 4_000;
/** With so many, nothing more is claimed ahead: the rest is kept for hosts that have nothing under way. */
const MAX_CLAIMED_AHEAD = 2_000;
/** Hosts that may be dead, and those that answer well, are remembered up to here, the latest of them. */
const MAX_REMEMBERED = 1_000;
/** Hosts that are looked at for one to forget, with each that is remembered. */
const MAX_LOOKS = 8;

export interface HostJob {
  readonly host: string;
  /** Monotonic time after which the job may no longer be started: its lease would end before its POST does. */
  readonly startBeforeMs: number;
}

/** A job that its host has done with. */
export interface Taken {
  readonly reply: ReplyKind;
  /** Settles when that is written down; the next job need not wait for it. Must not reject. */
  readonly written: Promise<void>;
}

export interface PerHostSchedulerOptions<Job extends HostJob> {
  /** Does one job. Must not reject. */
  readonly run: (job: Job) => Promise<Taken>;
  /** There is room again for a host that had none. */
  readonly onCapacity: () => void;
  /** Jobs that were not started: they waited too long, or their host does not answer. */
  readonly onDropped: (jobs: readonly Job[]) => void;
  /** Jobs a second that one host gets; a second's worth may go at once. */
  readonly perSecond: number;
  readonly nowMs?: () => number;
}

/** A host that is left alone. */
export interface PausedHost {
  readonly host: string;
  /** For how much longer. */
  readonly leftMs: number;
}

interface HostQueue<Job> {
  readonly waiting: Job[];
  inFlight: number;
  /** Done, and being written down. */
  unrecorded: number;
  /** What its last answer took, if it was well and soon; else null. */
  wellMs: number | null;
  breaker: Breaker;
  /** There may be more for it than was claimed: it tells when it has room. */
  moreWaits: boolean;
  /** Runs while jobs wait for nothing but the host's rate. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * One lane per destination host: five at a time and so many a second, first come, first served, so that a dead receiver
 * fills its own lane and no other. One that goes on without an answer is asked by one at a time, with growing pauses. Says how much may be
 * claimed for a host, and runs what was.
 */
export class PerHostScheduler<Job extends HostJob> {
  private readonly queues = new Map<string, HostQueue<Job>>();
  private readonly nowMs: () => number;
  private idleWaiters: (() => void)[] = [];
  private running = 0;
  private unrecorded = 0;
  /** Of all lanes, waiting and unwritten ones too. */
  private claimed = 0;
  /** There may be more than was claimed, for hosts that have no lane. */
  private moreWaits = false;
  private readonly rate: HostRate;
  private readonly claimedAhead: number;

  constructor(private readonly options: PerHostSchedulerOptions<Job>) {
    this.rate = new HostRate(options.perSecond);
    this.claimedAhead = options.perSecond * CLAIMED_AHEAD_SECONDS;
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  /** POSTs under way. */
  get inFlight(): number {
    return this.running;
  }

  /** Hosts that get nothing now, or one at a time, for they do not answer. */
  get broken(): number {
    const nowMs = this.nowMs();
    return [...this.queues.values()].filter(({ breaker }) => breakerState(breaker, nowMs) !== 'closed').length;
  }

  /** Hosts that get nothing now, and for how much longer. */
  pausedHosts(): PausedHost[] {
    const nowMs = this.nowMs();
    return [...this.queues]
      .filter(([, { breaker }]) => breakerState(breaker, nowMs) === 'open')
      .map(([host, { breaker }]) => ({ host, leftMs: breaker.openUntilMs - nowMs }));
  }

  /** Hosts that answer and for which more waits than they take. */
  overloadedHosts(): string[] {
    const nowMs = this.nowMs();
    return [...this.queues]
      .filter(([, { breaker, moreWaits }]) => moreWaits && breakerState(breaker, nowMs) === 'closed')
      .map(([host]) => host);
  }

  /** Somebody believes that the host is back: if it is left alone, one may ask now. */
  askAgain(host: string): void {
    const queue = this.queues.get(host);
    if (queue !== undefined) queue.breaker = probeNow(queue.breaker);
  }

  /** How many more jobs for this host may be claimed now. */
  room(host: string): number {
    if (this.claimed >= MAX_CLAIMED) return 0;
    const queue = this.queues.get(host);
    return queue === undefined ? MAX_IN_FLIGHT_PER_HOST : Math.max(0, this.capacityOf(queue) - held(queue));
  }

  /** The same for one that was never tried: behind others that wait for room already it has none. */
  capacityForNew(host: string): number {
    return this.queues.get(host)?.moreWaits === true ? 0 : this.room(host);
  }

  /** Hosts that have no room, and for which nothing is looked for therefore; they tell when they have some again. */
  fullHosts(): string[] {
    const full: string[] = [];
    for (const [host, queue] of this.queues) {
      if (this.room(host) > 0) continue;
      queue.moreWaits = true;
      full.push(host);
    }
    return full;
  }

  /** More was found for this host than it had room for; it tells when it has some, at once if it has some by now. */
  noteLeftOver(host: string): void {
    const queue = this.queues.get(host);
    if (this.claimed >= MAX_CLAIMED) this.moreWaits = true;
    else if (queue === undefined || this.hasCapacity(queue)) this.options.onCapacity();
    else queue.moreWaits = true;
  }

  add(job: Job): void {
    let queue = this.queues.get(job.host);
    if (queue === undefined) {
      queue = {
        waiting: [],
        inFlight: 0,
        unrecorded: 0,
        wellMs: null,
        breaker: CLOSED,
        moreWaits: false,
        timer: undefined,
      };
      this.queues.set(job.host, queue);
    }
    queue.waiting.push(job);
    this.claimed += 1;
    this.startNext(job.host, queue);
  }

  /** Takes back what has not been started. */
  dropWaiting(): Job[] {
    return [...this.queues.values()].flatMap((queue) => this.emptied(queue));
  }

  /** Resolves once nothing is under way, and all that was is written down. */
  idle(): Promise<void> {
    if (this.running + this.unrecorded === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private startNext(host: string, queue: HostQueue<Job>): void {
    const state = breakerState(queue.breaker, this.nowMs());
    const dropped = state === 'open' ? this.emptied(queue) : [];
    const places = state === 'half_open' ? 1 : MAX_IN_FLIGHT_PER_HOST;
    while (queue.inFlight < places && queue.unrecorded < MAX_UNRECORDED_PER_HOST) {
      const waitMs = this.rate.waitMs(host, this.nowMs());
      if (waitMs > 0) this.goOnIn(waitMs, host, queue);
      const job = waitMs > 0 ? undefined : queue.waiting.shift();
      if (job === undefined) break;
      if (job.startBeforeMs > this.nowMs()) void this.start(host, queue, job);
      else {
        dropped.push(job);
        this.claimed -= 1;
      }
    }
    if (dropped.length > 0) this.options.onDropped(dropped);
    if (held(queue) === 0 && queue.breaker === CLOSED && queue.wellMs === null) this.queues.delete(host);
  }

  /** What was not heard of for longest is forgotten, and found out again if need be. */
  private remember(host: string, queue: HostQueue<Job>): void {
    this.queues.delete(host);
    this.queues.set(host, queue);
    let looks = MAX_LOOKS;
    for (const [other, forgotten] of this.queues) {
      if (this.queues.size <= MAX_REMEMBERED || looks === 0) return;
      if (held(forgotten) === 0) this.queues.delete(other);
      looks -= 1;
    }
  }

  private async start(host: string, queue: HostQueue<Job>, job: Job): Promise<void> {
    queue.inFlight += 1;
    this.running += 1;
    const startedMs = this.nowMs();
    this.rate.take(host, startedMs);
    const { reply, written } = await this.options.run(job);
    const endedMs = this.nowMs();
    queue.wellMs = reply === 'success' && endedMs - startedMs < HEALTHY_LATENCY_MS ? endedMs - startedMs : null;
    queue.breaker = afterReply(queue.breaker, reply, endedMs);
    if (reply === 'no_response' || reply === 'success') this.remember(host, queue);
    queue.inFlight -= 1;
    this.running -= 1;
    queue.unrecorded += 1;
    this.unrecorded += 1;
    this.goOn(host, queue);
    await written;
    queue.unrecorded -= 1;
    this.unrecorded -= 1;
    this.claimed -= 1;
    this.goOn(host, queue);
    if (this.running + this.unrecorded === 0) for (const wake of this.idleWaiters.splice(0)) wake();
  }

  /** Something has moved: the next may start, and there may be room again. */
  private goOn(host: string, queue: HostQueue<Job>): void {
    const queueHasCapacity = queue.moreWaits && this.hasCapacity(queue);
    if (queueHasCapacity) queue.moreWaits = false;
    const allHaveCapacity = this.moreWaits && 2 * this.claimed <= MAX_CLAIMED;
    if (allHaveCapacity) this.moreWaits = false;
    this.startNext(host, queue);
    if (queueHasCapacity || allHaveCapacity) this.options.onCapacity();
  }

  /** The host has had its share of this moment; nothing else may move it on before its time. */
  private goOnIn(waitMs: number, host: string, queue: HostQueue<Job>): void {
    if (queue.waiting.length === 0) return;
    queue.timer ??= setTimeout(() => {
      queue.timer = undefined;
      if (this.queues.get(host) === queue) this.goOn(host, queue);
    }, Math.ceil(waitMs));
  }

  private emptied(queue: HostQueue<Job>): Job[] {
    clearTimeout(queue.timer);
    queue.timer = undefined;
    this.claimed -= queue.waiting.length;
    return queue.waiting.splice(0);
  }

  private capacityOf(queue: HostQueue<Job>): number {
    const state = breakerState(queue.breaker, this.nowMs());
    if (state !== 'closed') return state === 'half_open' ? 1 : 0;
    if (queue.wellMs === null || this.claimed >= MAX_CLAIMED_AHEAD) return MAX_IN_FLIGHT_PER_HOST;
    const inTime = (MAX_IN_FLIGHT_PER_HOST * CLAIMED_AHEAD_SECONDS * 1_000) / Math.max(1, queue.wellMs);
    return Math.floor(Math.min(inTime, this.claimedAhead, MAX_CLAIMED_PER_HOST));
  }

  /** Half empty: worth another look at the rows. */
  private hasCapacity(queue: HostQueue<Job>): boolean {
    const capacity = this.capacityOf(queue);
    return capacity > 0 && 2 * held(queue) <= capacity;
  }
}

/** What was claimed for a host and is not over. */
const held = ({ waiting, inFlight, unrecorded }: HostQueue<unknown>): number => waiting.length + inFlight + unrecorded;
