import type { DatabaseClock } from './database-clock.js';
import type { Executor } from './executor.js';

/**
 * Ids contain the database's time; a machine whose clock differs by more than this cannot handle deadlines either.
 */
const MAX_DRIFT_MS = 5_000;

const READ_ONLY = `SELECT current_setting('transaction_read_only') = 'on' AS "readOnly"`;

/**
 * Readiness of PostgreSQL for any process: it takes writes, and the clocks agree (architecture, invariant 4). Each check
 * throws or rejects when it fails.
 */
export function readinessOf(
  database: Executor,
  clock: Pick<DatabaseClock, 'driftMs'>,
): { readonly database: () => Promise<void>; readonly clock: () => void } {
  return {
    database: async () => {
      const [row] = await database.query<{ readOnly: boolean }>(READ_ONLY);
      if (row?.readOnly !== false) throw new Error('the database takes no writes');
    },
    clock: () => {
      const driftMs = Math.round(clock.driftMs);
      if (Math.abs(driftMs) > MAX_DRIFT_MS) throw new Error(`the clock is ${driftMs} ms off the database's`);
    },
  };
}
