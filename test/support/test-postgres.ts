import { startPostgres } from '../../config/stack/postgres.mjs';

/**
 * Starts a private PostgreSQL for tests that kill processes at most, not the machine: what it has written to files outlives
 * them without waiting for the disk, for which dozens of servers and databases would wait together.
 */
export const startTestPostgres = (dataDir: string): ReturnType<typeof startPostgres> =>
  startPostgres({ dataDir, log: () => undefined, settings: { fsync: 'off' } });
