import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { UPSERT_GATEWAY, DELETE_GATEWAY } from './gateway.sql.js';

/** A gateway process, as it describes itself. */
export interface GatewayIdentity {
  /** New at every start. */
  readonly id: Uuid;
  /** The machine's host name. */
  readonly host: string;
  readonly version: string;
}

/** The running gateways: each maintains its own row; one that was not seen for LEASE_SECONDS counts as dead. */
export class GatewayStore {
  /** Records a heartbeat. `stopping`: the gateway claims no further connections; the last heartbeat decides. */
  async recordHeartbeat(db: Executor, { id, host, version }: GatewayIdentity, stopping: boolean): Promise<void> {
    await db.query(UPSERT_GATEWAY, [id, host, version, stopping]);
  }

  async deleteGateway(db: Executor, id: Uuid): Promise<void> {
    await db.query(DELETE_GATEWAY, [id]);
  }
}
