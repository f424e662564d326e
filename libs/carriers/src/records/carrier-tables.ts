import type { Uuid } from '@countersign/ids';
import { EntityTable, RecordTable } from '@countersign/postgres';
import { Entity, VirtualColumn } from 'typeorm';
import type { BindSlot } from '../status/bind-status.js';
import { BindEntity, type BindType, SmppSystemEntity } from '../config/index.js';
import { GATEWAY_RECORD, LINKS_OF, LIVE_GATEWAYS, REFUSALS_OF, SLOTS_OF } from './carrier-tables.sql.js';

/** A connection of a system to a live gateway. */
export interface SystemLink {
  readonly gatewayId: Uuid;
  readonly address: string;
  readonly bindType: BindType;
  /** As in the JSON of PostgreSQL, in any year. */
  readonly since: string;
  /** Unchecked JSON. */
  readonly status: unknown;
}

/** The refused binds of a system, with the last one. */
export interface SystemRefusal {
  readonly refusals: number;
  /** RFC 3339, in the time zone of the database session. */
  readonly at: string;
  readonly reason: string;
  readonly address: string;
}

/** A connection of a bind whose lease a gateway holds. */
export interface GatewayLease {
  readonly bindId: Uuid;
  readonly slot: number;
  readonly epoch: number;
  readonly expiresAt: string;
  /** Null before the gateway's first status; unchecked. */
  readonly state: string | null;
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

/** The desired state of a bind, and the state of its connections (see `bindStatus`). */
@Entity('binds')
class BindRecordEntity extends BindEntity {
  @VirtualColumn('json', { query: SLOTS_OF }) readonly slots!: readonly BindSlot[];
}

export type BindRecord = Omit<BindRecordEntity, 'createdAt'>;

export const BINDS = new EntityTable<BindRecordEntity, BindRecord>(BindRecordEntity);

@Entity('smpp_systems')
class SystemRecordEntity extends SmppSystemEntity {
  @VirtualColumn('json', { query: LINKS_OF }) readonly links!: readonly SystemLink[];

  /** Null without a refused bind. */
  @VirtualColumn('json', { query: REFUSALS_OF }) readonly refused!: SystemRefusal | null;
}

export type SystemRecord = Omit<SystemRecordEntity, 'createdAt'>;

export const SMPP_SYSTEMS = new EntityTable<SystemRecordEntity, SystemRecord>(SystemRecordEntity);

/** Read only. */
export const GATEWAYS = new RecordTable<GatewayRecord>({ table: LIVE_GATEWAYS, columns: GATEWAY_RECORD });
