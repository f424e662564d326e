import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../../composition/phases.js';
import { FailureLog } from '../../operations/failure-log.js';
import { RequestLogService } from './request-log.service.js';

const PURGE_INTERVAL_MS = 60_000;
/** Requests in one statement at most; a full purge is followed by the next at once. */
const MAX_PURGED = 1_000;

/** Deletes old requests from the log. Any number of processes may run it. */
@Injectable()
export class RequestLogSweeper {
  readonly #purge: PollLoop;

  constructor(log: RequestLogService, failures: FailureLog) {
    this.#purge = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await log.purge(MAX_PURGED)) >= MAX_PURGED,
      onError: failures.about('purging the log of requests'),
    });
  }

  @OnStop('maintenance')
  stop(): Promise<void> {
    return this.#purge.stop();
  }
}
