import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { TicketStore } from './ticket.store.js';

const PURGE_INTERVAL_MS = 60_000;
/** Tickets in one statement at most; a full purge is followed by the next at once. */
const MAX_PURGED = 1_000;

/** Deletes old tickets. Any number of processes may run it. */
@Injectable()
export class TicketSweeper {
  readonly #purge: PollLoop;

  constructor(tickets: TicketStore, failures: FailureLog) {
    this.#purge = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await tickets.purge(MAX_PURGED)) >= MAX_PURGED,
      onError: failures.about('purging realtime tickets'),
    });
  }

  @OnStop('realtime')
  stop(): Promise<void> {
    return this.#purge.stop();
  }
}
