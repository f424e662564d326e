import type { Executor } from '@countersign/postgres';
import { LOCK_SWITCH, READ_SWITCHES, TURN_SWITCH } from './queue-switch.sql.js';
import type { QueueName } from './queues.js';

/** Whether a queue is held back. */
export interface QueueSwitch {
  readonly id: QueueName;
  /** Null while it runs. */
  readonly pausedAt: Date | null;
}

/** What waits in a queue. Numbers stop at MOST_COUNTED. */
export interface QueueDepth {
  readonly waiting: number;
  readonly inFlight: number;
  /** Given up, and still kept. */
  readonly failed: number;
  /** How long the one that should have gone first has waited; null when none should have. */
  readonly oldestAgeSeconds: number | null;
}

/** Beyond this it does not matter how many. */
export const MOST_COUNTED = 100_000;

/**
 * The door to the switches of the queues. The statements that begin something of a queue look at its switch themselves
 * (`isRunning`), so that a pause holds in every process from the next of them on.
 */
export class QueueSwitchStore {
  read(db: Executor, queues: readonly QueueName[]): Promise<QueueSwitch[]> {
    return db.query<QueueSwitch>(READ_SWITCHES, [queues]);
  }

  async lock(tx: Executor, queue: QueueName): Promise<QueueSwitch> {
    return only(await tx.query<QueueSwitch>(LOCK_SWITCH, [queue]));
  }

  async turn(tx: Executor, queue: QueueName, paused: boolean): Promise<QueueSwitch> {
    return only(await tx.query<QueueSwitch>(TURN_SWITCH, [queue, paused]));
  }
}

function only([found]: readonly QueueSwitch[]): QueueSwitch {
  if (found === undefined) throw new Error('a queue has no switch: is the database migrated?');
  return found;
}
