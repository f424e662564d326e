import { CardOfferStore } from '@countersign/rcs/offers';
import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';

const SWEEP_INTERVAL_MS = 10 * 60_000;
/** Phones that one statement deletes at most. If more are left, the next run follows at once. */
const MAX_DELETED = 1_000;

/** Deletes expired records of phones that limit push-bombing. Any number of processes may run it. */
@Injectable()
export class CardSweeper {
  private readonly pollLoop: PollLoop;

  constructor(store: CardOfferStore, failures: FailureLog) {
    this.pollLoop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await store.deleteStale(MAX_DELETED)) >= MAX_DELETED,
      onError: failures.about('deleting expired phones of cards'),
    });
  }

  @OnStop('maintenance')
  async stop(): Promise<void> {
    await this.pollLoop.stop();
  }
}
