import type { DatabaseClock, Executor } from '@countersign/postgres';
import type { Check } from '@countersign/telemetry';

/** Beyond this the wall clock of the machine and the database's disagree too much to go on (architecture, invariant 4). */
const MAX_DRIFT_MS = 5_000;

export interface ReadinessParts {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'driftMs'>;
  /** Resolves when the queue's store answers. */
  readonly askQueue: () => Promise<unknown>;
}

/**
 * What must work before requests are sent here. The queue must have answered once, so that a wrong address is found at
 * boot; losing it later makes nothing unready, since it only rings a bell that the relay does not need.
 */
export function readinessChecks({ database, clock, askQueue }: ReadinessParts): Readonly<Record<string, Check>> {
  let queueAnswered = false;
  return {
    database: async () => {
      await database.query('SELECT 1');
    },
    clock: () => {
      const driftMs = Math.round(clock.driftMs);
      if (Math.abs(driftMs) > MAX_DRIFT_MS) throw new Error(`the clock is ${driftMs} ms off the database's`);
    },
    queue: async () => {
      if (!queueAnswered) await askQueue();
      queueAnswered = true;
    },
  };
}
