import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { BEAT_GATEWAY, DELETE_GATEWAY } from './gateway.sql.js';

/** A process that serves carriers, as it says of itself. */
export interface GatewayIdentity {
  /** New at every start. */
  readonly id: Uuid;
  /** The machine's name. */
  readonly host: string;
  readonly version: string;
}

/** The gateways that run: each keeps its own row, and one that has not been seen for the time of a lease is dead. */
export class GatewayStore {
  /** Says that it lives. `stopping` is said once and for good: it takes no connection any more. */
  async beat(db: Executor, { id, host, version }: GatewayIdentity, stopping: boolean): Promise<void> {
    await db.query(BEAT_GATEWAY, [id, host, version, stopping]);
  }

  async leave(db: Executor, id: Uuid): Promise<void> {
    await db.query(DELETE_GATEWAY, [id]);
  }
}
