import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import type { BindType } from '../config/carrier.js';
import {
  COUNT_ONE_SYSTEM_ELSEWHERE,
  COUNT_SYSTEM_CONNECTIONS_ELSEWHERE,
  REPLACE_SYSTEM_CONNECTIONS,
} from './system-connection.sql.js';
import type { SystemConnectionStatus } from '../status/system-connection-status.js';

/** One connection of a system that is bound to a gateway. */
export interface SystemConnection {
  readonly id: Uuid;
  readonly systemId: Uuid;
  /** The peer's IP address and port. */
  readonly address: string;
  readonly bindType: BindType;
  readonly status: SystemConnectionStatus;
}

/** Numbers of connections of one system at other live gateways. */
export interface ConnectionsElsewhere {
  readonly connections: number;
  /** Of these, bound as receiver or transceiver. */
  readonly receivers: number;
}

/** The connections of systems by gateway: each gateway writes its own rows, as a set. */
export class SystemConnectionStore {
  constructor(private readonly gatewayId: Uuid) {}

  /** Replaces this gateway's rows by these connections. */
  async replaceConnections(tx: Executor, connections: readonly SystemConnection[]): Promise<void> {
    await tx.query(REPLACE_SYSTEM_CONNECTIONS, [
      this.gatewayId,
      connections.map(({ id }) => id),
      connections.map(({ systemId }) => systemId),
      connections.map(({ address }) => address),
      connections.map(({ bindType }) => bindType),
      connections.map(({ status }) => JSON.stringify(status)),
    ]);
  }

  /** Connections of systems at other live gateways; a system without connections is not in the map. */
  async countElsewhere(db: Executor): Promise<ReadonlyMap<Uuid, ConnectionsElsewhere>> {
    const rows = await db.query<ConnectionsElsewhere & { readonly systemId: Uuid }>(
      COUNT_SYSTEM_CONNECTIONS_ELSEWHERE,
      [this.gatewayId],
    );
    return new Map(rows.map((row) => [row.systemId, row]));
  }

  /** Connections of this system at other live gateways. */
  async countOfSystemElsewhere(db: Executor, systemId: Uuid): Promise<number> {
    const rows = await db.query<{ connections: number }>(COUNT_ONE_SYSTEM_ELSEWHERE, [this.gatewayId, systemId]);
    return rows[0]?.connections ?? 0;
  }
}
