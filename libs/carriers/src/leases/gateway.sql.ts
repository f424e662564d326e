import { LEASE_SECONDS } from './bind-lease.js';

const LEASE = `interval '${LEASE_SECONDS} seconds'`;

/**
 * A gateway that was not seen for LEASE_SECONDS counts as dead, and so do its connections. No gateway writes a time
 * later than now. A gateway whose time is more than LEASE_SECONDS ahead, more than a correction of the clock, counts as dead too.
 */
export const IS_ALIVE = `gateways.seen_at > clock_timestamp() - ${LEASE} AND gateways.seen_at < clock_timestamp() + ${LEASE}`;

const NOW = `date_trunc('milliseconds', clock_timestamp())`;

/**
 * Records a gateway's heartbeat, and deletes gateways dead for an hour or with a time that none writes. $1 id, $2 host, $3 version, $4 whether it is
 * stopping.
 */
export const UPSERT_GATEWAY = `
  WITH forgotten AS (
    DELETE FROM gateways WHERE id <> $1
      AND (seen_at < clock_timestamp() - interval '1 hour' OR seen_at >= clock_timestamp() + ${LEASE}))
  INSERT INTO gateways (id, host, version, started_at, seen_at, stopping)
  VALUES ($1, $2, $3, ${NOW}, ${NOW}, $4)
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, stopping = excluded.stopping`;

/** Deletes a gateway's row, and by cascade its system connections. $1 id. */
export const DELETE_GATEWAY = `DELETE FROM gateways WHERE id = $1`;
