import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OutboundState } from './outbound.js';

/** The row of a code on its way to a phone, partitioned by id. Its text is sealed, and erased once it has gone. */
@Entity('outbound_messages')
export class OutboundMessageEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'session_id' })
  sessionId!: string;

  @Column('uuid', { name: 'account_id' })
  accountId!: string;

  @Column('boolean')
  test!: boolean;

  @Column('text')
  destination!: string;

  /** The number less its last four digits. */
  @Column('text', { name: 'destination_prefix' })
  destinationPrefix!: string;

  @Column('text')
  country!: string;

  @Column('text')
  sender!: string;

  /** Sealed with the message's id as context. */
  @Column('bytea', { name: 'text_sealed', nullable: true, select: false })
  textSealed!: Buffer | null;

  @Column('text', { default: 'queued' })
  state!: OutboundState;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'expires_at', precision: 3 })
  expiresAt!: Date;

  @Column({ type: 'timestamptz', name: 'next_attempt_at', precision: 3, nullable: true })
  nextAttemptAt!: Date | null;

  @Column('uuid', { name: 'claimed_by', nullable: true })
  claimedBy!: string | null;

  @Column({ type: 'timestamptz', name: 'claimed_until', precision: 3, nullable: true })
  claimedUntil!: Date | null;

  @Column('smallint', { default: 0 })
  attempts!: number;

  @Column('smallint', { name: 'unknown_fates', default: 0 })
  unknownFates!: number;

  @Column('uuid', { name: 'refused_routes', array: true, default: '{}' })
  refusedRoutes!: string[];

  @Column('uuid', { name: 'busy_routes', array: true, default: '{}' })
  busyRoutes!: string[];

  @Column('uuid', { name: 'route_id', nullable: true })
  routeId!: string | null;

  @Column('uuid', { name: 'bind_id', nullable: true })
  bindId!: string | null;

  @Column('text', { nullable: true })
  carrier!: string | null;

  /** The sender that the phone shows. */
  @Column('text', { nullable: true })
  source!: string | null;

  @Column('text', { name: 'smsc_message_id', nullable: true })
  smscMessageId!: string | null;

  @Column({ type: 'timestamptz', name: 'submitted_at', precision: 3, nullable: true })
  submittedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'ended_at', precision: 3, nullable: true })
  endedAt!: Date | null;

  @Column('text', { name: 'network_error', nullable: true })
  networkError!: string | null;

  @Column('numeric', { name: 'cost_usd', precision: 14, scale: 6, nullable: true })
  costUsd!: string | null;
}
