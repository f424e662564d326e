/**
 * Age of the oldest transaction with a snapshot, in seconds. Those of other roles are visible to members of pg_read_all_stats only.
 * The statement's own snapshot counts as new.
 */
export const OLDEST_SNAPSHOT = `
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 AS seconds
  FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND datname = current_database() AND pid <> pg_backend_pid()`;
