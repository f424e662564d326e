import type { CardOfferStore } from '@countersign/rcs/offers';
import { PollLoop } from '@countersign/schedule';
import type { OnModuleDestroy } from '@nestjs/common';

const SWEEP_INTERVAL_MS = 10 * 60_000;
/** Phones in one statement at most; while a sweep is full the next one follows at once. */
const MAX_DELETED = 1_000;

export interface CardSweeperOptions {
  readonly store: Pick<CardOfferStore, 'deleteStale'>;
  readonly onError: (error: unknown) => void;
}

/** Forgets what was kept of phones against push-bombing and no longer counts. Any number of processes may do it. */
export class CardSweeper implements OnModuleDestroy {
  private readonly periodic: PollLoop;

  constructor({ store, onError }: CardSweeperOptions) {
    this.periodic = new PollLoop({
      everyMs: SWEEP_INTERVAL_MS,
      work: async () => (await store.deleteStale(MAX_DELETED)) >= MAX_DELETED,
      onError,
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.periodic.stop();
  }
}
