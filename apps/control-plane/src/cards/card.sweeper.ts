import type { CardOfferStore } from '@countersign/rcs/offers';
import { PollLoop } from '@countersign/schedule';
import type { OnModuleDestroy } from '@nestjs/common';

const SWEEP_INTERVAL_MS = 10 * 60_000;
/** Phones that one statement deletes at most. If more are left, the next run follows at once. */
const MAX_DELETED = 1_000;

export interface CardSweeperOptions {
  readonly store: Pick<CardOfferStore, 'deleteStale'>;
  readonly onError: (error: unknown) => void;
}

/** Deletes expired records of phones that limit push-bombing. Any number of processes may run it. */
export class CardSweeper implements OnModuleDestroy {
  private readonly pollLoop: PollLoop;

  constructor({ store, onError }: CardSweeperOptions) {
    this.pollLoop = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await store.deleteStale(MAX_DELETED)) >= MAX_DELETED,
      onError,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.pollLoop.stop();
  }
}
