/**
 * The partitions of some tables ($1). One with a pending detach comes first: until it is finalized, no other
 * partition of its table can be detached.
 */
export const LIST_PARTITIONS = `
  SELECT child.relname AS partition
  FROM pg_inherits link
  JOIN pg_class child ON child.oid = link.inhrelid
  WHERE link.inhparent = ANY ($1::text[]::regclass[])
  ORDER BY link.inhdetachpending DESC, child.relname`;

/** Detached tables with the name of a partition ($1, a regular expression): their drop was not completed. */
export const LIST_DETACHED = `
  SELECT relname AS partition
  FROM pg_class
  WHERE relkind = 'r' AND NOT relispartition AND relname ~ $1 AND pg_table_is_visible(oid)`;

/**
 * Creates the partition of a table ($1) for the ids of a day ($2, YYYY-MM-DD), as the owner of the table (see
 * migrations/0013-database-roles.ts). The index on the token digest is UNIQUE so that the planner estimates one row
 * before the new partition is analyzed: a minute of sessions with a plain index was searched in 20 ms for 64 digests
 * (100,000 rows), with this one in 2.
 */
export const MAKE_PARTITION = `SELECT make_day_partition($1, $2::date)`;

/**
 * Detaches and drops the partition of a table ($1) for a day ($2) that is older than $3 days of retention, as the
 * owner of the table. Waits 200 ms for its locks, then fails with lock_not_available.
 */
export const DROP_PARTITION = `SELECT drop_day_partition($1, $2::date, $3)`;
