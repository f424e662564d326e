import type { SenderFormat } from '@countersign/phone';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BindType, LinkAlphabet } from '../config/carrier.js';

/** The row of a system that connects in (contract, Admin). */
@Entity('smpp_systems')
export class SmppSystemEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text', { name: 'system_id', unique: true })
  systemId!: string;

  /** Keyed, and includes the row id. */
  @Column('bytea', { name: 'password_digest', select: false })
  passwordDigest!: Buffer;

  /** Version of the master key of the digest. */
  @Column('smallint', { name: 'digest_version', default: 1, select: false })
  digestVersion!: number;

  @Column('text')
  carrier!: string;

  @Column('text', { name: 'bind_types', array: true, default: '{transmitter,receiver,transceiver}' })
  bindTypes!: BindType[];

  @Column('text', { name: 'allowed_cidrs', array: true, default: '{}' })
  allowedCidrs!: string[];

  @Column('integer', { name: 'max_connections', default: 4 })
  maxConnections!: number;

  @Column('integer', { name: 'submit_per_second', nullable: true })
  submitPerSecond!: number | null;

  @Column('boolean', { name: 'tls_required', default: false })
  tlsRequired!: boolean;

  @Column('boolean', { name: 'trusted_for_mo', default: false })
  trustedForMo!: boolean;

  @Column('text', { name: 'sender_format', default: 'auto' })
  senderFormat!: SenderFormat;

  @Column('text', { name: 'default_alphabet', default: 'gsm' })
  defaultAlphabet!: LinkAlphabet;

  @Column('integer', { name: 'retryable_mo_status', default: 20 })
  retryableMoStatus!: number;

  @Column('boolean', { default: true })
  enabled!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
