import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Partitions without the index. */
const PARTITIONS = `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = 'deliveries'::regclass AND NOT EXISTS (
    SELECT FROM pg_index JOIN pg_inherits of_parent ON of_parent.inhrelid = indexrelid
    WHERE indrelid = child.oid AND of_parent.inhparent = 'deliveries_unclaimed'::regclass)
  ORDER BY child.relname DESC`;

const KEY = `(account_id, test, next_attempt_at) WHERE status = 'pending' AND claimed_until IS NULL`;

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
    await runner.query(`CREATE INDEX IF NOT EXISTS deliveries_unclaimed ON ONLY deliveries ${KEY}`);
    const partitions = (await runner.query(PARTITIONS)) as { readonly name: string }[];
    for (const { name } of partitions) {
      const index = `${name}_unclaimed`;
      await runner.query(`DROP INDEX IF EXISTS ${index}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${index} ON ${name} ${KEY}`);
      await runner.query(`ALTER INDEX deliveries_unclaimed ATTACH PARTITION ${index}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX deliveries_unclaimed`);
  }
}
