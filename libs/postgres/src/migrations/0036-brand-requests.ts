import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/** The name and slug that an account requests for its brand, until an operator approves or refuses them. */
export class BrandRequests1700000000036 implements MigrationInterface {
  readonly name = 'BrandRequests1700000000036';

  async up(runner: QueryRunner): Promise<void> {
    await underShortLock(
      runner,
      `ALTER TABLE brands ADD COLUMN requested_name text, ADD COLUMN requested_slug text,
        ADD COLUMN requested_at timestamptz(3), ADD COLUMN request_refused_at timestamptz(3)`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await underShortLock(
      runner,
      `ALTER TABLE brands DROP COLUMN requested_name, DROP COLUMN requested_slug, DROP COLUMN requested_at,
        DROP COLUMN request_refused_at`,
    );
  }
}
