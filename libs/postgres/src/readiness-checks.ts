import type { DatabaseClock } from './database-clock.js';
import type { Executor } from './database.js';

/** Ids are stamped by the database's time; a machine this far off is not to be trusted with deadlines either. */
const MAX_DRIFT_MS = 5_000;

/**
 * What every process needs of PostgreSQL before work is sent to it: that it answers, and that the clocks agree
 * (architecture, invariant 4). Each throws, or rejects, where it does not hold.
 */
export function readinessOf(
  database: Executor,
  clock: Pick<DatabaseClock, 'driftMs'>,
): { readonly database: () => Promise<void>; readonly clock: () => void } {
  return {
    database: async () => {
      await database.query('SELECT 1');
    },
    clock: () => {
      const driftMs = Math.round(clock.driftMs);
      if (Math.abs(driftMs) > MAX_DRIFT_MS) throw new Error(`the clock is ${driftMs} ms off the database's`);
    },
  };
}
