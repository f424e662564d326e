import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/**
 * The hours of `usage_hours` by day; `hour` is the first of the day. Days before `days_until` are added up, for usage and for
 * overviews; without it none is. Control planes add up those that there are, some at a time: a report waits for none of it.
 */
export class UsageDays1700000000050 implements MigrationInterface {
  readonly name = 'UsageDays1700000000050';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE usage_days (LIKE usage_hours INCLUDING ALL)');
    await underShortLock(runner, 'ALTER TABLE usage_progress ADD COLUMN days_until timestamptz(3)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE usage_progress DROP COLUMN days_until');
    await runner.query('DROP TABLE usage_days');
  }
}
