import { throttled } from '@countersign/resilience';
import type { JobsOptions } from 'bullmq';

/** Payload of a job: ids of committed rows, never state. */
export interface JobIds {
  ids: string[];
}

/** The method of a BullMQ Queue that JobNotifier uses. */
export interface JobQueue {
  add(name: string, data: JobIds, options: JobsOptions): Promise<unknown>;
}

/** Name of every job that JobNotifier adds. */
export const JOB_NAME = 'ring';

/** Maximum number of ids per job; further ids go into the next job. */
const IDS_PER_JOB = 500;
/**
 * Maximum number of ids queued behind the pending job. The oldest are dropped first: the poll finds those soonest.
 */
const IDS_WAITING = 5_000;
/** Timeout of an add; the job may still be added later, which is harmless. */
const GIVE_UP_MS = 1_000;
/** Maximum number of timed-out adds that have not settled; then no job is added until one does. */
const UNSETTLED_LIMIT = 4;
/** How long closing waits for the last add. */
const CLOSE_TIMEOUT_MS = 500;

/** Only the last failed jobs are kept, for diagnosis. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: { count: 100, age: 3_600 } };

/** Of every job that JobNotifier adds. */
export const JOB_FIELDS = { name: JOB_NAME, options: JSON.stringify(JOB_OPTIONS) };

/**
 * Notifies workers, possibly in other processes, that rows are due. Only a hint: `notify` never throws, never blocks,
 * and a notification may be lost, so consumers also poll the rows every few seconds. Notifications of one event loop
 * turn, and those made while an add is pending, share a job.
 */
export class JobNotifier {
  readonly #queue: JobQueue;
  readonly #report: (error: unknown) => void;
  #waiting: string[] = [];
  #pendingAdd: object | undefined;
  #unsettled = 0;
  #flushing = false;
  #closed = false;
  #settled: (() => void) | undefined;

  /**
   * `onError` is called for lost notifications, at most once a second. The owner of the queue closes it, after this.
   */
  constructor(queue: JobQueue, onError: (error: unknown) => void) {
    this.#queue = queue;
    this.#report = throttled(onError);
  }

  /** Call after the commit of the rows. */
  notify(ids: readonly string[]): void {
    if (this.#closed || ids.length === 0) return;
    this.#waiting.push(...ids);
    if (this.#waiting.length > IDS_WAITING) this.#waiting.splice(0, this.#waiting.length - IDS_WAITING);
    this.#flushSoon();
  }

  /** Sends queued notifications once, then no more; returns within half a second. */
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
    if (this.#pendingAdd !== undefined || this.#unsettled >= UNSETTLED_LIMIT || this.#waiting.length === 0) return;
    void this.#add({ ids: this.#waiting.splice(0, IDS_PER_JOB) });
  }

  /** Always resolves. */
  async #add(job: JobIds): Promise<void> {
    const mine = {};
    this.#pendingAdd = mine;
    this.#unsettled++;
    const timer = setTimeout(() => {
      this.#report(new Error(`adding a job took more than ${GIVE_UP_MS} ms`));
      this.#releasePendingAdd(mine);
    }, GIVE_UP_MS);
    timer.unref();
    try {
      await this.#queue.add(JOB_NAME, job, JOB_OPTIONS);
    } catch (error) {
      this.#report(error);
    } finally {
      clearTimeout(timer);
      this.#unsettled--;
      this.#releasePendingAdd(mine);
      if (this.#unsettled === 0) this.#settled?.();
    }
  }

  #releasePendingAdd(mine: object): void {
    if (this.#pendingAdd === mine) this.#pendingAdd = undefined;
    if (!this.#closed) this.#flushSoon();
  }
}
