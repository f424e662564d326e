import type { Uuid } from '@countersign/ids';
import { RecordTable } from '@countersign/postgres';
import type { BindSlot, ConnectionState } from '../leases/bind-status.js';
import { BIND_RECORD, GATEWAY_RECORD, LIVE_GATEWAYS, SYSTEM_RECORD } from './carrier-tables.sql.js';
import { NUMBER } from '../config/carrier.sql.js';
import type { Bind, BindType, InboundNumber, SmppSystem } from '../config/carrier.js';
import { ROUTE } from '../routes/route.sql.js';
import type { Route } from '../routes/route.js';
import type { SystemConnectionStatus } from '../leases/system-connection.store.js';

/** The desired state of a bind, and the state of its connections (see `bindStatus`). */
export interface BindRecord extends Bind {
  readonly slots: readonly BindSlot[];
}

/** A connection of a system to a live gateway. */
export interface SystemLink {
  readonly gatewayId: Uuid;
  readonly address: string;
  readonly bindType: BindType;
  readonly since: string;
  /** A gateway of another version may omit fields. */
  readonly status: Partial<SystemConnectionStatus>;
}

export interface SystemRecord extends SmppSystem {
  readonly links: readonly SystemLink[];
}

/** A connection of a bind whose lease a gateway holds. */
export interface GatewayLease {
  readonly bindId: Uuid;
  readonly slot: number;
  readonly epoch: number;
  readonly expiresAt: string;
  /** Null before the gateway's first status. */
  readonly state: ConnectionState | null;
}

/** A live gateway. */
export interface GatewayRecord {
  readonly id: Uuid;
  readonly host: string;
  readonly version: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  /** The gateway is shutting down and claims no connections. */
  readonly stopping: boolean;
  readonly leases: readonly GatewayLease[];
  readonly systemConnections: number;
}

// Operator views of the rows of this library. They include related rows, which the result of a write lacks: lock here
// first.

export const BINDS = new RecordTable<BindRecord>({ table: 'binds', columns: BIND_RECORD });
export const SMPP_SYSTEMS = new RecordTable<SystemRecord>({ table: 'smpp_systems', columns: SYSTEM_RECORD });
export const INBOUND_NUMBERS = new RecordTable<InboundNumber>({ table: 'inbound_numbers', columns: NUMBER });
export const ROUTES = new RecordTable<Route>({ table: 'routes', columns: ROUTE });
/** Read only. */
export const GATEWAYS = new RecordTable<GatewayRecord>({ table: LIVE_GATEWAYS, columns: GATEWAY_RECORD });
