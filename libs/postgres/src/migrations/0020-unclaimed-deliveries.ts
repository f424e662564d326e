import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from './partition-indexes.js';

const INDEX = {
  table: 'deliveries',
  name: 'deliveries_unclaimed',
  key: "(account_id, test, next_attempt_at) WHERE status = 'pending' AND claimed_until IS NULL",
};

/**
 * Deliveries that wait for an attempt, by account: a claim finds those of one account behind any backlog of another. A delivery
 * that is claimed as it is created and succeeds never enters the index, so that it costs such a delivery nothing.
 *
 * Each partition gets its index CONCURRENTLY, without a transaction: deliveries are written meanwhile. Only the entry in the
 * catalogue of the whole table waits for the writes under way. After an interruption it continues with the partitions left.
 */
export class UnclaimedDeliveries1700000000020 implements MigrationInterface {
  readonly name = 'UnclaimedDeliveries1700000000020';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndex(runner, INDEX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX deliveries_unclaimed`);
  }
}
