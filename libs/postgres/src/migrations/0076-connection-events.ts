import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/** Of each connection what happened last, for the timeline of a bind: 50 events of less than 2 KiB; the bound is for what others may write. */
export class ConnectionEvents1700000000076 implements MigrationInterface {
  readonly name = 'ConnectionEvents1700000000076';

  async up(runner: QueryRunner): Promise<void> {
    await underShortLock(
      runner,
      `ALTER TABLE bind_connections ADD COLUMN events jsonb,
        ADD CONSTRAINT bind_connections_events_check CHECK (octet_length(events::text) <= 131072) NOT VALID`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE bind_connections DROP COLUMN events');
  }
}
