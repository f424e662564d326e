import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/**
 * Events whose data is the Session are stored without data. The readers of the previous release take it from the session row
 * too; a session that has ended does not change.
 */
export class EventsWithoutSnapshots1700000000081 implements MigrationInterface {
  readonly name = 'EventsWithoutSnapshots1700000000081';

  async up(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE events ALTER COLUMN data DROP NOT NULL');
  }

  /** Rows without data keep none: no release that runs on this schema reads it. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
