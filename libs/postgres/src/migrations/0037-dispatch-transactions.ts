import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/**
 * The transaction that dispatched an event, and the oldest one that was open then: events of transactions that overlapped are
 * told from earlier ones, whatever their times (`resumeAfter`).
 */
export class DispatchTransactions1700000000037 implements MigrationInterface {
  readonly name = 'DispatchTransactions1700000000037';

  async up(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE events ADD COLUMN dispatch_xid xid8, ADD COLUMN dispatch_xmin xid8');
  }

  async down(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE events DROP COLUMN dispatch_xid, DROP COLUMN dispatch_xmin');
  }
}
