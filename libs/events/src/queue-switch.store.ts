import type { Executor } from '@countersign/postgres';
import { LOCK_SWITCH, READ_SWITCHES, SET_PAUSED } from './queue-switch.sql.js';
import type { QueueName } from './queues.js';

/** Whether a queue is paused. */
export interface QueueSwitch {
  readonly id: QueueName;
  /** Null while it runs. */
  readonly pausedAt: Date | null;
}

/** The depth of a queue. Counts stop at MAX_COUNTED. */
export interface QueueDepth {
  readonly waiting: number;
  readonly inFlight: number;
  /** Failed rows that are still stored. */
  readonly failed: number;
  /** Age of the longest due row; null when none is due. */
  readonly oldestAgeSeconds: number | null;
}

/** Maximum count. */
export const MAX_COUNTED = 100_000;

/**
 * Reads and writes the switches of the queues. The statements that start work of a queue check its switch themselves
 * (`isRunning`), so that a pause takes effect in every process with its next statement.
 */
export class QueueSwitchStore {
  read(db: Executor, queues: readonly QueueName[]): Promise<QueueSwitch[]> {
    return db.query<QueueSwitch>(READ_SWITCHES, [queues]);
  }

  async lock(tx: Executor, queue: QueueName): Promise<QueueSwitch> {
    return only(await tx.query<QueueSwitch>(LOCK_SWITCH, [queue]));
  }

  async setPaused(tx: Executor, queue: QueueName, paused: boolean): Promise<QueueSwitch> {
    return only(await tx.query<QueueSwitch>(SET_PAUSED, [queue, paused]));
  }
}

function only([found]: readonly QueueSwitch[]): QueueSwitch {
  if (found === undefined) throw new Error('queue switch not found: run the migrations');
  return found;
}
