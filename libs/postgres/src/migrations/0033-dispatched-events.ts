import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Partitions without the index. */
const PARTITIONS = `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = 'events'::regclass AND NOT EXISTS (
    SELECT FROM pg_index JOIN pg_inherits of_parent ON of_parent.inhrelid = indexrelid
    WHERE indrelid = child.oid AND of_parent.inhparent = 'events_dispatched'::regclass)
  ORDER BY child.relname DESC`;

const KEY = `(account_id, test, dispatched_at, id) WHERE dispatched_at IS NOT NULL`;

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
    await runner.query(`CREATE INDEX IF NOT EXISTS events_dispatched ON ONLY events ${KEY}`);
    const partitions = (await runner.query(PARTITIONS)) as { readonly name: string }[];
    for (const { name } of partitions) {
      const index = `${name}_dispatched`;
      await runner.query(`DROP INDEX IF EXISTS ${index}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${index} ON ${name} ${KEY}`);
      await runner.query(`ALTER INDEX events_dispatched ATTACH PARTITION ${index}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX events_dispatched`);
  }
}
