import { EntityTable } from '@countersign/postgres';
import { Column, Entity } from 'typeorm';
import { BIND_TYPES, type BindType, type SystemOutbind } from './carrier.js';
import { LinkEntity } from './link.entity.js';

/** A carrier or aggregator that connects in (contract, Admin). */
@Entity('smpp_systems')
export class SmppSystemEntity extends LinkEntity {
  @Column('text', { unique: true }) readonly systemId!: string;

  /** Keyed, and includes the row id. See `systemPasswordMatches`. */
  @Column('bytea') readonly passwordDigest!: Buffer;

  /** The version of the master key of the digest; the digest is renewed with the current version when the system binds. */
  @Column('smallint', { default: 1 }) readonly digestVersion!: number;

  @Column('text', { array: true, default: `{${BIND_TYPES.join()}}` }) readonly bindTypes!: readonly BindType[];

  /** Networks from which it may connect; empty for any. */
  @Column('text', { array: true, default: '{}' }) readonly allowedCidrs!: readonly string[];

  @Column('integer', { default: 4 }) readonly maxConnections!: number;

  /** Maximum messages per second from it over all its connections; null for no limit. */
  @Column('integer', { nullable: true }) readonly submitPerSecond!: number | null;

  /** Codes per second that are sent to it over all its connections; less while it throttles. */
  @Column('integer', { default: 50 }) readonly deliverPerSecond!: number;

  @Column('boolean', { default: false }) readonly tlsRequired!: boolean;

  /** Null: only the system opens connections. */
  @Column('jsonb', { nullable: true }) readonly outbind!: SystemOutbind | null;

  /** The password of our outbind, sealed with the system's id as context; null without `outbind`. See `outbindPassword`. */
  @Column('bytea', { nullable: true }) readonly outbindPasswordSealed!: Buffer | null;

  /** PEM of the client key of `outbind.tls.clientCertificate`, sealed likewise; null for none. See `outbindClientKey`. */
  @Column('bytea', { nullable: true }) readonly outbindClientKeySealed!: Buffer | null;
}

export type SmppSystem = Omit<SmppSystemEntity, 'createdAt'>;

export const SYSTEMS = new EntityTable<SmppSystemEntity, SmppSystem>(SmppSystemEntity);
