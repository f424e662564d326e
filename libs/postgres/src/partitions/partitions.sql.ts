/**
 * The partitions of some tables ($1). One whose detaching was begun and not ended comes first: until that is ended, no
 * other partition of its table can be detached.
 */
export const LIST_PARTITIONS = `
  SELECT child.relname AS partition
  FROM pg_inherits link
  JOIN pg_class child ON child.oid = link.inhrelid
  WHERE link.inhparent = ANY ($1::text[]::regclass[])
  ORDER BY link.inhdetachpending DESC, child.relname`;

/** Tables of a name like a partition's ($1, a regular expression) that hang on no parent: dropping them was not ended. */
export const LIST_DETACHED = `
  SELECT relname AS partition
  FROM pg_class
  WHERE relkind = 'r' AND NOT relispartition AND relname ~ $1 AND pg_table_is_visible(oid)`;

/**
 * Makes the partition of a table ($1) for the ids of a day ($2, YYYY-MM-DD), by the owner of the table. What it makes is
 * in migrations/0013-database-roles.ts. Sessions of a day have a unique index on their token digest, and that it is unique
 * is what the planner must know: a new day has no statistics before it is analyzed, and a minute of sessions with a plain
 * index on the digest was searched in 20 ms for 64 digests (100,000 rows), with this one in 2.
 */
export const MAKE_PARTITION = `SELECT make_day_partition($1, $2::date)`;

/**
 * Detaches and drops the partition of a table ($1) for a day ($2) that is past $3 days of retention, by the owner of the
 * table. Waits 200 ms for its locks, and then fails with lock_not_available.
 */
export const DROP_PARTITION = `SELECT drop_day_partition($1, $2::date, $3)`;
