import type { PartitionedTable } from './partition-days.js';

/**
 * The partitions of some tables ($1). One whose detaching was begun and not ended comes first: until that is ended, no
 * other partition of its table can be detached.
 */
export const LIST_PARTITIONS = `
  SELECT parent.relname AS "table", child.relname AS partition, link.inhdetachpending AS "detachPending"
  FROM pg_inherits link
  JOIN pg_class parent ON parent.oid = link.inhparent
  JOIN pg_class child ON child.oid = link.inhrelid
  WHERE parent.oid = ANY ($1::text[]::regclass[])
  ORDER BY link.inhdetachpending DESC, child.relname`;

/** Tables of a name like a partition's ($1, a regular expression) that hang on no parent: dropping them was not ended. */
export const LIST_DETACHED = `
  SELECT relname AS partition
  FROM pg_class
  WHERE relkind = 'r' AND NOT relispartition AND relname ~ $1 AND pg_table_is_visible(oid)`;

/**
 * Indexes that the table itself cannot have: a unique one on a partitioned table would have to hold the id. That it is
 * unique is what the planner must know. A new day has no statistics before it is analyzed, and a minute of sessions with
 * a plain index on the digest was searched in 20 ms for 64 digests (100,000 rows), with this one in 2.
 */
const OWN_INDEXES: Partial<Record<PartitionedTable, (partition: string) => string>> = {
  sessions: (partition) => `CREATE UNIQUE INDEX ${partition}_token_digest ON ${partition} (token_digest)`,
};

/**
 * The statements that make a partition for ids from $low up to, but not, $high. It is created first and attached then:
 * PARTITION OF would wait behind every open insert, and hold up those after it.
 */
export function makePartition(table: PartitionedTable, partition: string, low: string, high: string): string[] {
  const ownIndex = OWN_INDEXES[table]?.(partition);
  return [
    `CREATE TABLE ${partition} (LIKE ${table} INCLUDING ALL)`,
    ...(ownIndex === undefined ? [] : [ownIndex]),
    `ALTER TABLE ${table} ATTACH PARTITION ${partition} FOR VALUES FROM ('${low}') TO ('${high}')`,
  ];
}

/** Lets inserts and reads go on. Cannot run in a transaction; cut short, it is left for FINALIZE. */
export const detachPartition = (table: string, partition: string): string =>
  `ALTER TABLE ${table} DETACH PARTITION ${partition} CONCURRENTLY`;

export const finalizeDetach = (table: string, partition: string): string =>
  `ALTER TABLE ${table} DETACH PARTITION ${partition} FINALIZE`;

export const dropDetached = (partition: string): string => `DROP TABLE IF EXISTS ${partition}`;
