import { PollLoop } from '@countersign/schedule';
import { withinDeadline } from '@countersign/telemetry';
import type { Queue } from 'bullmq';
import type { FailureLog } from './failure-log.js';

const SWEEP_INTERVAL_MS = 10_000;
/** Job schedulers that one run removes at most. If more are left, the next run follows at once. */
const MAX_REMOVED = 20;
/** BullMQ waits without end for an unreachable Redis. */
const RUN_TIMEOUT_MS = 5_000;
const STOP_TIMEOUT_MS = 400;
/** The answer of BullMQ's `removeJobScheduler`; 1 if there is none with the id. */
const REMOVED = 0;

/**
 * Removes every job scheduler of a queue, at the start and every ten seconds: no process of this product adds one, and one that
 * somebody with access to the queue added would make jobs until it is removed. Only ids are read, never its jobs. The first
 * removal of the process is logged. Any number of processes may run it.
 */
export class JobSchedulerSweeper {
  readonly #loop: PollLoop;
  readonly #onError: (error: unknown) => void;
  #isReported = false;

  constructor(
    private readonly queue: Queue,
    failures: Pick<FailureLog, 'about'>,
  ) {
    this.#onError = failures.about(`queue ${queue.name}: the check for job schedulers`);
    this.#loop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: () => withinDeadline(RUN_TIMEOUT_MS, () => this.#sweep()),
      onError: this.#onError,
    });
    this.#loop.trigger();
  }

  /** Before the queue is closed. Never throws. */
  stop(): Promise<void> {
    return withinDeadline(STOP_TIMEOUT_MS, () => this.#loop.stop()).catch(this.#onError);
  }

  /** True when more may be left. */
  async #sweep(): Promise<boolean> {
    const { backend } = this.queue;
    // Each id is followed by the time of its next job.
    const found = await backend.getJobSchedulersRange(0, MAX_REMOVED - 1, true);
    const ids = found.filter((_, at) => at % 2 === 0);
    let removed = 0;
    for (const id of ids) {
      if ((await backend.removeJobScheduler(id)) !== REMOVED) continue;
      removed += 1;
      this.#reportOnce();
    }
    return removed > 0 && ids.length === MAX_REMOVED;
  }

  #reportOnce(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#onError(new Error('a job scheduler was removed; no process of this product adds one'));
  }
}
