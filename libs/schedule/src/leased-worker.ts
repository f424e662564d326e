import { PollLoop } from './poll-loop.js';
import { Timers } from './timers.js';

/** Due jobs, claimed under a lease: another process repeats those that are not recorded in time. */
export interface Claim<Job> {
  readonly jobs: readonly Job[];
  /** Whether more may be due: the next claim follows at once. */
  readonly more: boolean;
}

/** The jobs of one kind. */
export interface LeasedJobs<Job> {
  /** Claims at most `free` jobs, in a transaction that ends before they run. */
  claim(free: number): Promise<Claim<Job>>;
  /** Runs a job and records its result. Must not reject. */
  run(job: Job): Promise<void>;
  /** Called after a claim that left nothing due, once its jobs are started. */
  onIdle?(): Promise<void>;
}

export interface LeasedWorkerOptions<Job> {
  readonly jobs: LeasedJobs<Job>;
  /** From the end of one claim to the next without a trigger. */
  readonly intervalMs: number;
  /** Jobs in flight at most; by default no limit, where `claim` has one of its own. */
  readonly maxInFlight?: number;
  /** Called with errors of `claim` and `onIdle`; the next claim follows after the interval. */
  readonly onError: (error: unknown) => void;
}

/**
 * Claims due jobs from rows and runs them concurrently. Notifications only trigger a claim, so a lost one costs an interval
 * and a repeated one nothing, and any number of processes may work on the same rows.
 */
export class LeasedWorker<Job> {
  readonly #inFlight = new Map<Promise<void>, Job>();
  readonly #timers = new Timers(() => this.trigger());
  readonly #maxInFlight: number;
  #loop: PollLoop | undefined;

  constructor(private readonly o: LeasedWorkerOptions<Job>) {
    this.#maxInFlight = o.maxInFlight ?? Infinity;
  }

  /** In flight: claimed, and not recorded yet. */
  get jobs(): Job[] {
    return [...this.#inFlight.values()];
  }

  start(): void {
    const { intervalMs, onError } = this.o;
    this.#loop = new PollLoop({ everyMs: intervalMs, work: () => this.#claimAndStart(), onError });
    this.#loop.trigger();
  }

  /** Claims now: a job may be due. Never throws, never waits. */
  trigger(): void {
    this.#loop?.trigger();
  }

  /** Claims after this time, up to 50 ms later. */
  triggerIn(ms: number): void {
    this.#timers.fireIn(ms);
  }

  /** Claims no more, and waits for the claim under way. */
  async stopClaiming(): Promise<void> {
    await this.#loop?.stop();
    this.#loop = undefined;
    this.#timers.clear();
  }

  /** Resolves once all jobs in flight have been run, or those that match. */
  async drain(matches: (job: Job) => boolean = () => true): Promise<void> {
    await Promise.all([...this.#inFlight].flatMap(([ran, job]) => (matches(job) ? [ran] : [])));
  }

  async #claimAndStart(): Promise<boolean> {
    const free = this.#maxInFlight - this.#inFlight.size;
    if (free <= 0) return false;
    const { jobs, more } = await this.o.jobs.claim(free);
    for (const job of jobs) this.#startJob(job);
    if (!more) await this.o.jobs.onIdle?.();
    return more;
  }

  #startJob(job: Job): void {
    const ran = this.o.jobs.run(job).finally(() => {
      this.#inFlight.delete(ran);
      if (this.#inFlight.size === this.#maxInFlight - 1) this.trigger();
    });
    this.#inFlight.set(ran, job);
  }
}
