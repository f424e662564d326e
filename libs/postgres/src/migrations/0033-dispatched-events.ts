import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './partition-indexes.js';

const INDEX = {
  table: 'events',
  name: 'events_dispatched',
  key: '(account_id, test, dispatched_at, id) WHERE dispatched_at IS NOT NULL',
};

/**
 * Dispatched events by account and mode, in order of dispatch, for `resumeAfter` (contract, Realtime). An event enters the
 * index when it is dispatched, so that writing it costs nothing more.
 *
 * Each partition gets its index CONCURRENTLY, without a transaction, as in 0020-unclaimed-deliveries.ts: events are written
 * meanwhile, and after an interruption it continues with the partitions left.
 */
export class DispatchedEvents1700000000033 implements MigrationInterface {
  readonly name = 'DispatchedEvents1700000000033';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndex(runner, INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX events_dispatched`);
  }
}
