import { withinDeadline } from '@countersign/telemetry';
import { Injectable } from '@nestjs/common';
import { FailureLog } from './failure-log.js';

/** BullMQ waits without end for an unreachable Redis; the queue holds nothing that would be lost. */
const QUEUE_CLOSE_MS = 1_000;

/** Closes parts of the queue within a deadline; a failure is logged. */
@Injectable()
export class QueueCloser {
  readonly #onError: (error: unknown) => void;

  constructor(failures: FailureLog) {
    this.#onError = failures.about('shutdown: closing the event queue');
  }

  async close(close: () => Promise<void>): Promise<void> {
    await withinDeadline(QUEUE_CLOSE_MS, close).catch(this.#onError);
  }
}
