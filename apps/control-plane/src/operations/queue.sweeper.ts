import { MAX_SCHEDULERS_READ, removeForeignValues } from '@countersign/bus';
import { PollLoop } from '@countersign/schedule';
import { withinDeadline } from '@countersign/telemetry';
import type { Queue } from 'bullmq';
import type { FailureLog } from './failure-log.js';

const SWEEP_INTERVAL_MS = 10_000;
/** BullMQ waits without end for an unreachable Redis. */
const RUN_TIMEOUT_MS = 5_000;
const STOP_TIMEOUT_MS = 400;
/** The answer of BullMQ's `removeJobScheduler`; 1 if there is none with the id. */
const REMOVED = 0;

/**
 * Removes from a queue, at the start and every ten seconds, what no process of this product puts there and what would last until
 * it is removed: job schedulers, values of a wrong type under the queue's keys, counts at their end, a pause. Of jobs and schedulers only ids are read.
 * The first removal of each kind is logged. Any number of processes may run it.
 */
export class QueueSweeper {
  #loop: PollLoop | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #reported = new Set<string>();

  constructor(
    private readonly queue: Queue,
    failures: Pick<FailureLog, 'about'>,
  ) {
    this.#onError = failures.about(`queue ${queue.name}: the check for foreign values`);
  }

  /** Begins with a run. */
  start(): void {
    this.#loop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: () => withinDeadline(RUN_TIMEOUT_MS, () => this.#sweep()),
      onError: this.#onError,
    });
    this.#loop.trigger();
  }

  /** Before the queue is closed. Never throws. */
  stop(): Promise<void> {
    return withinDeadline(STOP_TIMEOUT_MS, async () => this.#loop?.stop()).catch(this.#onError);
  }

  /**
   * Removes 20 schedulers at most. True when more may be left: the next run follows at once. Values come first: schedulers cannot
   * be read from a value of another type.
   */
  async #sweep(): Promise<boolean> {
    const { backend } = this.queue;
    this.#reportOnce(await removeForeignValues(this.queue));
    // Each id is followed by the time of its next job.
    const found = await backend.getJobSchedulersRange(0, MAX_SCHEDULERS_READ - 1, true);
    const ids = found.filter((_, at) => at % 2 === 0);
    let removed = 0;
    for (const id of ids) {
      if ((await backend.removeJobScheduler(id)) !== REMOVED) continue;
      removed += 1;
      this.#reportOnce(['job scheduler']);
    }
    return removed > 0 && ids.length === MAX_SCHEDULERS_READ;
  }

  #reportOnce(removed: readonly string[]): void {
    const unreported = removed.filter((what) => !this.#reported.has(what));
    if (unreported.length === 0) return;
    for (const what of unreported) this.#reported.add(what);
    this.#onError(new Error(`removed: ${unreported.join(', ')}; no process of this product adds it`));
  }
}
