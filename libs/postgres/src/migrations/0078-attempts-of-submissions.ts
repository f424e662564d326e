import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/** The attempt that got an id of the carrier; null in rows of earlier releases. */
export class AttemptsOfSubmissions1700000000078 implements MigrationInterface {
  readonly name = 'AttemptsOfSubmissions1700000000078';

  async up(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE submissions ADD COLUMN attempt smallint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE submissions DROP COLUMN attempt');
  }
}
