import type { Executor } from './executor.js';
import type { Uuid } from '@countersign/ids';

/**
 * Takes the lease when it is free or expired, and renews it for its owner. No owner sets an expiry later than one TTL from
 * now: one later than two TTLs was written by other means and counts as expired.
 */
const ACQUIRE_LEASE = `
  INSERT INTO row_leases AS held (name, owner, expires_at)
  VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3 / 1000.0))
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
  WHERE held.owner = excluded.owner OR held.expires_at <= clock_timestamp()
    OR held.expires_at > clock_timestamp() + make_interval(secs => 2 * $3 / 1000.0)
  RETURNING name`;

const RELEASE_LEASE = `DELETE FROM row_leases WHERE name = $1 AND owner = $2`;

/**
 * The right to do a background task, held as a row until it expires by the database's clock. It avoids duplicate
 * work; two processes may overlap, so the work must tolerate that.
 */
export class RowLease {
  constructor(
    private readonly database: Executor,
    private readonly name: string,
    private readonly owner: Uuid,
    private readonly ttlMs: number,
  ) {}

  /** Acquires or renews. False while another owner holds it. */
  async acquire(): Promise<boolean> {
    const rows = await this.database.query<{ name: string }>(ACQUIRE_LEASE, [this.name, this.owner, this.ttlMs]);
    return rows.length === 1;
  }

  /** Releases the lease before its expiry. Does nothing when another owner holds it. */
  async release(): Promise<void> {
    await this.database.query(RELEASE_LEASE, [this.name, this.owner]);
  }
}
