import type { SenderFormat } from '@countersign/phone';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { BindHost, BindTls, BindType, InterfaceVersion, LinkAlphabet, MessageIdBase } from '../config/carrier.js';

/** The row of one of our binds: desired state (contract, Admin). */
@Entity('binds')
export class BindEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text', { unique: true })
  name!: string;

  @Column('text')
  carrier!: string;

  @Column('jsonb')
  hosts!: BindHost[];

  @Column('jsonb', { default: { enabled: false } })
  tls!: BindTls;

  @Column('text', { name: 'system_id' })
  systemId!: string;

  /** Sealed with the bind's id as context. */
  @Column('bytea', { name: 'password_sealed', select: false })
  passwordSealed!: Buffer;

  @Column('text', { name: 'system_type', default: '' })
  systemType!: string;

  @Column('text', { name: 'bind_type', default: 'transceiver' })
  bindType!: BindType;

  @Column('text', { name: 'interface_version', default: '3.4' })
  interfaceVersion!: InterfaceVersion;

  @Column('text', { name: 'address_range', default: '' })
  addressRange!: string;

  @Column('integer', { name: 'send_window', default: 10 })
  sendWindow!: number;

  @Column('integer', { default: 1 })
  connections!: number;

  @Column('integer', { name: 'submit_per_second', default: 50 })
  submitPerSecond!: number;

  @Column('text', { name: 'message_id_base', default: 'as-is' })
  messageIdBase!: MessageIdBase;

  @Column('integer', { name: 'temporary_statuses', array: true, default: '{8,20,88}' })
  temporaryStatuses!: number[];

  @Column('integer', { default: 0 })
  generation!: number;

  @Column({ type: 'timestamptz', name: 'full_trace_until', precision: 3, nullable: true })
  fullTraceUntil!: Date | null;

  @Column('integer', { name: 'enquire_link_seconds', default: 30 })
  enquireLinkSeconds!: number;

  @Column('integer', { name: 'response_timeout_seconds', default: 10 })
  responseTimeoutSeconds!: number;

  @Column('text', { name: 'default_alphabet', default: 'gsm' })
  defaultAlphabet!: LinkAlphabet;

  @Column('integer', { name: 'retryable_mo_status', default: 20 })
  retryableMoStatus!: number;

  @Column('boolean', { name: 'trusted_for_mo', default: false })
  trustedForMo!: boolean;

  @Column('text', { name: 'sender_format', default: 'auto' })
  senderFormat!: SenderFormat;

  @Column('boolean', { default: true })
  enabled!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
