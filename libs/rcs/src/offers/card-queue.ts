import { firstIdAt, ID_CLOCK_SLACK_MS } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { CARD_DEPTH, READ_CLOCK } from './card-queue.sql.js';

/** The longest life of a session, and so of its card. */
const LONGEST_CARD_MS = 300_000;

/** The current backlog of cards. An offer that no gateway claims at once is withdrawn. */
interface CardDepth {
  readonly waiting: number;
  readonly inFlight: number;
  /** Always 0: a card that could not be sent is not kept, since its session falls back to SMS. */
  readonly failed: number;
  readonly oldestAgeSeconds: number | null;
}

/** The queue of cards for the admin API. */
export class CardQueue {
  async depth(db: Executor): Promise<CardDepth> {
    const clock = requireRow(await db.query<{ nowMs: number }>(READ_CLOCK));
    const bounds = [
      firstIdAt(clock.nowMs - LONGEST_CARD_MS - ID_CLOCK_SLACK_MS),
      firstIdAt(clock.nowMs + ID_CLOCK_SLACK_MS),
    ];
    return requireRow(await db.query<CardDepth>(CARD_DEPTH, bounds));
  }

  /** Always 0: a failed card is never sent again. */
  retryFailed(): Promise<number> {
    return Promise.resolve(0);
  }
}
