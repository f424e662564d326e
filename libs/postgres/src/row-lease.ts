import type { Executor } from './database.js';
import type { Uuid } from '@countersign/ids';

/** Takes the lease when nobody holds it, when it has run out, or when it is the owner's already (and so renews it). */
const TAKE_LEASE = `
  INSERT INTO row_leases AS held (name, owner, expires_at)
  VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3 / 1000.0))
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
  WHERE held.owner = excluded.owner OR held.expires_at <= clock_timestamp()
  RETURNING name`;

const GIVE_BACK_LEASE = `DELETE FROM row_leases WHERE name = $1 AND owner = $2`;

/**
 * The right to do a piece of housekeeping, held as a row until its time is over by the database's clock. It spares
 * several processes the same work; it does not promise that they never overlap, so the work must bear that.
 */
export class RowLease {
  constructor(
    private readonly database: Executor,
    private readonly name: string,
    private readonly owner: Uuid,
    private readonly ttlMs: number,
  ) {}

  /** Takes or renews. False while another owner holds it. */
  async take(): Promise<boolean> {
    const rows = await this.database.query<{ name: string }>(TAKE_LEASE, [this.name, this.owner, this.ttlMs]);
    return rows.length === 1;
  }

  /** For the next one not to have to wait. Does nothing when the lease has gone to another owner. */
  async giveBack(): Promise<void> {
    await this.database.query(GIVE_BACK_LEASE, [this.name, this.owner]);
  }
}
