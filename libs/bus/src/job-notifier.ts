import type { JobsOptions } from 'bullmq';

/** What a ring carries: ids of committed rows, never state. */
export interface JobIds {
  ids: string[];
}

/** The one call of a BullMQ Queue that a bell makes. */
export interface JobQueue {
  add(name: string, data: JobIds, options: JobsOptions): Promise<unknown>;
}

/** The name of every job that a bell adds. */
export const JOB_NAME = 'ring';

/** Ids in one job at most; more go into the next. */
const IDS_PER_JOB = 500;
/** Ids that wait for the job before them at most. The oldest are forgotten first: the relay finds those soonest. */
const IDS_WAITING = 5_000;
/** A job whose adding takes longer is given up; it may still be added, which does no harm. */
const GIVE_UP_MS = 1_000;
/** Given-up jobs that have not settled at most; with this many the bell is silent until one does. */
const UNSETTLED_LIMIT = 4;
/** How long closing waits for the last job. */
const CLOSE_TIMEOUT_MS = 500;
/** A store that is away fails every ring: one report in this time says it all. */
const REPORT_EVERY_MS = 1_000;

/** Nothing of a ring is kept but the last failures, to look at. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: { count: 100, age: 3_600 } };

/**
 * Tells a worker, maybe in another process, that rows are due. It is a hint and no more: a ring never throws, never
 * makes its caller wait, and may be lost; whoever relies on it also looks at the rows every few seconds. Rings of one
 * moment, and those that come while a job is on its way, share a job.
 */
export class JobNotifier {
  readonly #queue: JobQueue;
  readonly #onError: (error: unknown) => void;
  #waiting: string[] = [];
  #onItsWay: object | undefined;
  #unsettled = 0;
  #flushing = false;
  #closed = false;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #settled: (() => void) | undefined;

  /** `onError` hears of lost rings, at most once a second. The queue stays its owner's to close, after the bell. */
  constructor(queue: JobQueue, onError: (error: unknown) => void) {
    this.#queue = queue;
    this.#onError = onError;
  }

  /** After the commit of the rows. */
  notify(ids: readonly string[]): void {
    if (this.#closed || ids.length === 0) return;
    this.#waiting.push(...ids);
    if (this.#waiting.length > IDS_WAITING) this.#waiting.splice(0, this.#waiting.length - IDS_WAITING);
    this.#flushSoon();
  }

  /** Rings for what is waiting, once, and then no more; returns within half a second. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#flush();
    if (this.#unsettled === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      this.#settled = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (!this.#closed) this.#flush();
    });
  }

  #flush(): void {
    if (this.#onItsWay !== undefined || this.#unsettled >= UNSETTLED_LIMIT || this.#waiting.length === 0) return;
    void this.#add({ ids: this.#waiting.splice(0, IDS_PER_JOB) });
  }

  /** Settles always, and never rejects. */
  async #add(notify: JobIds): Promise<void> {
    const mine = {};
    this.#onItsWay = mine;
    this.#unsettled++;
    const timer = setTimeout(() => {
      this.#report(new Error(`a ring took more than ${GIVE_UP_MS} ms`));
      this.#letNextGo(mine);
    }, GIVE_UP_MS);
    timer.unref();
    try {
      await this.#queue.add(JOB_NAME, notify, JOB_OPTIONS);
    } catch (error) {
      this.#report(error);
    } finally {
      clearTimeout(timer);
      this.#unsettled--;
      this.#letNextGo(mine);
      if (this.#unsettled === 0) this.#settled?.();
    }
  }

  #letNextGo(mine: object): void {
    if (this.#onItsWay === mine) this.#onItsWay = undefined;
    if (!this.#closed) this.#flushSoon();
  }

  #report(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - this.#reportedMs < REPORT_EVERY_MS) return;
    this.#reportedMs = nowMs;
    this.#onError(error);
  }
}
