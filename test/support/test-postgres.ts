import { startPostgres } from '../../config/stack/postgres.mjs';

/**
 * Starts a private PostgreSQL that does not wait for the disk, which many test servers share. Commits survive the end of its
 * processes, and no test ends the machine.
 */
export const startTestPostgres = (dataDir: string): ReturnType<typeof startPostgres> =>
  startPostgres({ dataDir, log: () => undefined, settings: { fsync: 'off' } });
