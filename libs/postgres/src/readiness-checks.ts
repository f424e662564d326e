import type { DatabaseClock } from './database-clock.js';
import type { Executor } from './database.js';

/**
 * Ids contain the database's time; a machine whose clock differs by more than this cannot handle deadlines either.
 */
const MAX_DRIFT_MS = 5_000;

/**
 * Readiness of PostgreSQL for any process: it answers, and the clocks agree (architecture, invariant 4). Each check
 * throws or rejects when it fails.
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
