import type { QueryRunner } from 'typeorm';
import { inOwnTransaction, withoutLockTimeout } from './under-short-lock.js';

/** An index of a partitioned table. Its partitions have the names of their tables and the end of its own name. */
export interface PartitionedIndex {
  readonly table: string;
  /** Begins with the name of the table and an underscore. */
  readonly name: string;
  /** Columns in parentheses, and the condition of a partial index. */
  readonly key: string;
}

/** Partitions without the index, newest first. $1 table, $2 index of the whole table. */
const PARTITIONS = `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
  WHERE inhparent = to_regclass($1) AND NOT EXISTS (
    SELECT FROM pg_index JOIN pg_inherits of_parent ON of_parent.inhrelid = indexrelid
    WHERE indrelid = child.oid AND of_parent.inhparent = to_regclass($2))
  ORDER BY child.relname DESC`;

/**
 * Builds an index of a partitioned table while its rows are written: CONCURRENTLY in each partition, so for a migration without a
 * transaction. The entries in the catalogue wait for the transactions under way, in short tries. After an interruption it
 * continues with the partitions that are left.
 */
export async function buildIndex(runner: QueryRunner, { table, name, key }: PartitionedIndex): Promise<void> {
  await inOwnTransaction(runner, `CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${key}`);
  const suffix = name.slice(table.length);
  const partitions = (await runner.query(PARTITIONS, [table, name])) as { readonly name: string }[];
  for (const { name: partition } of partitions) {
    const index = `${partition}${suffix}`;
    // Of an interrupted build: an index that is not valid.
    await inOwnTransaction(runner, `DROP INDEX IF EXISTS ${index}`);
    await withoutLockTimeout(runner, `CREATE INDEX CONCURRENTLY ${index} ON ${partition} ${key}`);
    await inOwnTransaction(runner, `ALTER INDEX ${name} ATTACH PARTITION ${index}`);
  }
}
