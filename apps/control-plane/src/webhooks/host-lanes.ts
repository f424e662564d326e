/** Deliveries to one host at the same time (contract, Fairness). */
export const MAX_IN_FLIGHT_PER_HOST = 5;
/** Claimed ahead for a host that answers well, so that its next POST need not wait for the database. */
const HEALTHY_CLAIMED_PER_HOST = 50;
/** A host that takes longer than this gets nothing claimed ahead: its leases would run out while they wait. */
const HEALTHY_LATENCY_MS = 500;

export interface LaneJob {
  readonly host: string;
  /** Monotonic time after which the job may no longer be started: its lease would end before its POST does. */
  readonly startBeforeMs: number;
}

export interface HostLanesOptions<Job extends LaneJob> {
  /** Does one job; whether its host answered well. Must not reject. */
  readonly run: (job: Job) => Promise<boolean>;
  /** There is room again for a host that had none. */
  readonly onRoom: () => void;
  /** A job that waited too long; its lease will lapse. */
  readonly onDropped: (job: Job) => void;
  readonly nowMs?: () => number;
}

interface Lane<Job> {
  readonly waiting: Job[];
  inFlight: number;
  healthy: boolean;
  /** There may be more for it than was claimed: it tells when it has room. */
  moreWaits: boolean;
}

/**
 * One lane per destination host: five at a time, first come, first served, so that a dead receiver fills its own lane
 * and no other. Says how much may be claimed for a host, and runs what was.
 */
export class HostLanes<Job extends LaneJob> {
  private readonly lanes = new Map<string, Lane<Job>>();
  private readonly nowMs: () => number;
  private idleWaiters: (() => void)[] = [];
  private running = 0;

  constructor(private readonly options: HostLanesOptions<Job>) {
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  /** POSTs under way. */
  get inFlight(): number {
    return this.running;
  }

  /** How many more jobs for this host may be claimed now. */
  room(host: string): number {
    const lane = this.lanes.get(host);
    return lane === undefined
      ? MAX_IN_FLIGHT_PER_HOST
      : Math.max(0, capacityOf(lane) - lane.inFlight - lane.waiting.length);
  }

  /** Hosts that have no room, and for which nothing is looked for therefore; they tell when they have some again. */
  fullHosts(): string[] {
    const full: string[] = [];
    for (const [host, lane] of this.lanes) {
      if (this.room(host) > 0) continue;
      lane.moreWaits = true;
      full.push(host);
    }
    return full;
  }

  /** More was found for this host than it had room for; it tells when it has some, at once if it has some by now. */
  noteLeftOver(host: string): void {
    const lane = this.lanes.get(host);
    if (lane === undefined || isRoomy(lane)) this.options.onRoom();
    else lane.moreWaits = true;
  }

  add(job: Job): void {
    let lane = this.lanes.get(job.host);
    if (lane === undefined) {
      lane = { waiting: [], inFlight: 0, healthy: false, moreWaits: false };
      this.lanes.set(job.host, lane);
    }
    lane.waiting.push(job);
    this.startNext(job.host, lane);
  }

  /** Takes back what has not been started. */
  dropWaiting(): Job[] {
    return [...this.lanes.values()].flatMap((lane) => lane.waiting.splice(0));
  }

  /** Resolves once nothing is under way. */
  idle(): Promise<void> {
    if (this.running === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  private startNext(host: string, lane: Lane<Job>): void {
    while (lane.inFlight < MAX_IN_FLIGHT_PER_HOST) {
      const job = lane.waiting.shift();
      if (job === undefined) break;
      if (job.startBeforeMs <= this.nowMs()) this.options.onDropped(job);
      else void this.start(host, lane, job);
    }
    if (lane.inFlight === 0) this.lanes.delete(host);
  }

  private async start(host: string, lane: Lane<Job>, job: Job): Promise<void> {
    lane.inFlight += 1;
    this.running += 1;
    const startedMs = this.nowMs();
    const answeredWell = await this.options.run(job);
    lane.healthy = answeredWell && this.nowMs() - startedMs < HEALTHY_LATENCY_MS;
    lane.inFlight -= 1;
    this.running -= 1;
    const roomAgain = lane.moreWaits && isRoomy(lane);
    if (roomAgain) lane.moreWaits = false;
    this.startNext(host, lane);
    if (roomAgain) this.options.onRoom();
    if (this.running === 0) for (const wake of this.idleWaiters.splice(0)) wake();
  }
}

const capacityOf = (lane: Lane<unknown>): number => (lane.healthy ? HEALTHY_CLAIMED_PER_HOST : MAX_IN_FLIGHT_PER_HOST);

/** Half empty: worth another look at the rows. */
const isRoomy = (lane: Lane<unknown>): boolean => 2 * (lane.inFlight + lane.waiting.length) <= capacityOf(lane);
