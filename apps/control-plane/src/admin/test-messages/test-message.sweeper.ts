import { TestMessageStore } from '@countersign/carriers/test-messages';
import { Database } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../../composition/phases.js';
import { FailureLog } from '../../operations/failure-log.js';

const PURGE_INTERVAL_MS = 60_000;

/** Deletes old test messages, and the phones of those whose process has ended. Any number of processes may run it. */
@Injectable()
export class TestMessageSweeper {
  readonly #purge: PollLoop;

  constructor(database: Database, messages: TestMessageStore, failures: FailureLog) {
    this.#purge = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => {
        await messages.purge(database);
        return false;
      },
      onError: failures.about('purging test messages'),
    });
  }

  @OnStop('maintenance')
  stop(): Promise<void> {
    return this.#purge.stop();
  }
}
