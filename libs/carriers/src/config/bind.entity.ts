import { EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity } from 'typeorm';
import type { BindHost, BindOutbind, BindTls, BindType, InterfaceVersion } from './carrier.js';
import { LinkEntity } from './link.entity.js';

/** The desired state of one of our binds, as configured by an administrator (contract, Admin). */
@Entity('binds')
export class BindEntity extends LinkEntity {
  @Column('text', { unique: true }) readonly name!: string;

  /** Tried in order; at least one. Not connected to while `outbind` is set. */
  @Column('jsonb') readonly hosts!: readonly BindHost[];

  @Column('jsonb', { default: { enabled: false } }) readonly tls!: BindTls;

  @Column('text') readonly systemId!: string;

  /** Sealed with the bind's id as context. See `bindPassword`. Changes whenever the password is set. */
  @Column('bytea') readonly passwordSealed!: Buffer;

  /** PEM of the client key of `tls.clientCertificate`, sealed with the bind's id as context; null for none. See `bindClientKey`. */
  @Column('bytea', { nullable: true }) readonly clientKeySealed!: Buffer | null;

  /** Null: the gateway connects to the hosts. */
  @Column('jsonb', { nullable: true }) readonly outbind!: BindOutbind | null;

  /** The password of the carrier's outbind, sealed with the bind's id as context; null without `outbind`. See `outbindPassword`. */
  @Column('bytea', { nullable: true }) readonly outbindPasswordSealed!: Buffer | null;

  @Column('text', { default: '' }) readonly systemType!: string;

  @Column('text', { default: 'transceiver' }) readonly bindType!: BindType;

  @Column('text', { default: '3.4' }) readonly interfaceVersion!: InterfaceVersion;

  @Column('text', { default: '' }) readonly addressRange!: string;

  /** Number of connections to keep, spread over the hosts. */
  @Column('integer', { default: 1 }) readonly connections!: number;

  /** Submits per second over all connections; less while the carrier throttles. */
  @Column('integer', { default: 50 }) readonly submitPerSecond!: number;

  /** Incremented to request a reconnect: connections of an older generation are replaced. */
  @Column('integer', { default: 0 }) readonly generation!: number;

  /** Until when its trace includes message texts; null or past: never. Written by `bind-trace.sql.ts`. */
  @TimeColumn({ nullable: true, update: false }) readonly fullTraceUntil!: Date | null;
}

export type Bind = Omit<BindEntity, 'createdAt'>;

export const BIND_ROWS = new EntityTable<BindEntity, Bind>(BindEntity);
