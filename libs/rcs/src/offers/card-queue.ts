import { firstIdAt, ID_CLOCK_SLACK_MS } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { CARD_DEPTH, READ_CLOCK } from './card-queue.sql.js';

/** No session lives longer, and a card no longer than its session. */
const LONGEST_CARD_MS = 300_000;

/** What waits to be sent. Numbers of the moment: a card that nobody takes at once is taken back. */
export interface CardDepth {
  readonly waiting: number;
  readonly inFlight: number;
  /** Always 0: what could not be sent is not kept for another try, its session has gone another way. */
  readonly failed: number;
  readonly oldestAgeSeconds: number | null;
}

/** The queue of cards as engineers see it. */
export class CardQueue {
  async depth(db: Executor): Promise<CardDepth> {
    const [clock] = await db.query<{ nowMs: number }>(READ_CLOCK);
    if (clock === undefined) throw new Error('a statement of one row answered none');
    const bounds = [
      firstIdAt(clock.nowMs - LONGEST_CARD_MS - ID_CLOCK_SLACK_MS),
      firstIdAt(clock.nowMs + ID_CLOCK_SLACK_MS),
    ];
    const [depth] = await db.query<CardDepth>(CARD_DEPTH, bounds);
    if (depth === undefined) throw new Error('a statement of one row answered none');
    return depth;
  }

  /** A card that failed is never sent again. */
  retryFailed(): Promise<number> {
    return Promise.resolve(0);
  }
}
