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

/** Creates first and attaches then: PARTITION OF would wait behind every open insert, and hold up those after it. */
export const createPartition = (table: string, partition: string): string =>
  `CREATE TABLE ${partition} (LIKE ${table} INCLUDING ALL)`;

/** Ids from $low up to, but not, $high. */
export const attachPartition = (table: string, partition: string, low: string, high: string): string =>
  `ALTER TABLE ${table} ATTACH PARTITION ${partition} FOR VALUES FROM ('${low}') TO ('${high}')`;

/** Lets inserts and reads go on. Cannot run in a transaction; cut short, it is left for FINALIZE. */
export const detachPartition = (table: string, partition: string): string =>
  `ALTER TABLE ${table} DETACH PARTITION ${partition} CONCURRENTLY`;

export const finalizeDetach = (table: string, partition: string): string =>
  `ALTER TABLE ${table} DETACH PARTITION ${partition} FINALIZE`;

export const dropDetached = (partition: string): string => `DROP TABLE IF EXISTS ${partition}`;
