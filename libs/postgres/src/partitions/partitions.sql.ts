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
 * The time up to which data may count as old: the given time ($1), but at most a day more than an hour ago. A clock that jumps
 * ahead, or a database restored beside one, therefore drops nothing at once, and no more than a day of data an hour; a clock that
 * is set back is followed at once.
 */
export const MOVE_RETENTION_CLOCK = `
  INSERT INTO retention_clock AS clock (at, moved_at) VALUES ($1, $1)
  ON CONFLICT (only_row) DO UPDATE SET
    at = least($1, clock.at + CASE WHEN clock.moved_at BETWEEN $1 - interval '50 minutes' AND $1
      THEN $1 - clock.moved_at ELSE interval '1 day' END),
    moved_at = CASE WHEN $1 < clock.at OR clock.moved_at NOT BETWEEN $1 - interval '50 minutes' AND $1
      THEN $1 ELSE clock.moved_at END
  RETURNING at`;

/**
 * Kinds of unfinished work among the rows of one day: null for none. $1 lowest id of the day, $2 that of the next day, $3 end of the
 * day. A session that is still pending has no event yet; hours that are not added up would be missing in the usage. A webhook that had
 * ended is not unfinished because its account asked for one more attempt: an account can ask for that again and again.
 */
export const FIND_UNFINISHED = `
  SELECT nullif(concat_ws(', ',
    CASE WHEN EXISTS (SELECT FROM sessions WHERE id >= $1 AND id < $2 AND status = 'pending') THEN 'pending sessions' END,
    CASE WHEN EXISTS (SELECT FROM outbound_messages WHERE id >= $1 AND id < $2 AND state IN ('queued', 'sending'))
      THEN 'unsent codes' END,
    CASE WHEN EXISTS (SELECT FROM events WHERE id >= $1 AND id < $2 AND dispatched_at IS NULL) THEN 'undispatched events' END,
    CASE WHEN EXISTS (SELECT FROM deliveries WHERE id >= $1 AND id < $2 AND status = 'pending'
      AND (NOT retry_asked OR schedule_resumes_at IS NOT NULL)) THEN 'pending webhooks' END,
    CASE WHEN EXISTS (SELECT FROM usage_progress WHERE settled_until < $3) THEN 'usage that is not added up' END
  ), '') AS work`;

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
