import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ApprovedBy, Channel, SessionStatus } from './rules/session.js';

/** The row of a session (contract, Session), partitioned by id. Written by SessionStore only. */
@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid', { name: 'account_id' })
  accountId!: string;

  @Column('uuid', { name: 'brand_id' })
  brandId!: string;

  @Column('text')
  phone!: string;

  /** ISO 3166-1 alpha-2, or `001` for a phone without a country. */
  @Column('text')
  country!: string;

  /** Created with a test key: it never reaches a carrier or the RCS platform. */
  @Column('boolean', { default: false })
  test!: boolean;

  @Column('text')
  status!: SessionStatus;

  @Column('text')
  channel!: Channel;

  @Column('bytea', { name: 'token_digest', select: false })
  tokenDigest!: Buffer;

  @Column('text', { name: 'client_challenge' })
  clientChallenge!: string;

  @Column('text', { name: 'brand_slug' })
  brandSlug!: string;

  @Column('text')
  instruction!: string;

  @Column('text', { name: 'brand_name' })
  brandName!: string;

  @Column('text', { name: 'otp_sender', nullable: true })
  otpSender!: string | null;

  @Column('text', { name: 'otp_domain', nullable: true })
  otpDomain!: string | null;

  /** The keyed digest of every code sent. Any of them is accepted. */
  @Column('bytea', { name: 'otp_digests', array: true, nullable: true, select: false })
  otpDigests!: Buffer[] | null;

  @Column('smallint', { name: 'otp_sends', default: 0 })
  otpSends!: number;

  /** Codes checked: each is counted before its comparison. */
  @Column('smallint', { name: 'otp_attempts', default: 0 })
  otpAttempts!: number;

  /** Limit of wrong codes, set at creation. */
  @Column('smallint', { name: 'otp_attempt_limit', default: 5 })
  otpAttemptLimit!: number;

  @Column({ type: 'timestamptz', name: 'otp_sent_at', precision: 3, nullable: true })
  otpSentAt!: Date | null;

  @Column('text', { name: 'inbound_number' })
  inboundNumber!: string;

  @Column('text', { name: 'webhook_url', nullable: true })
  webhookUrl!: string | null;

  @Column('boolean', { name: 'allow_sms_otp' })
  allowSmsOtp!: boolean;

  /**
   * `json` and not `jsonb`: it keeps the caller's key order. A parsed object loses it, so statements select it as
   * text.
   */
  @Column('json')
  metadata!: Readonly<Record<string, string>>;

  @Column('integer', { name: 'entropy_key_version' })
  entropyKeyVersion!: number;

  /** Version of the master key from which its token and the buttons of its card are derived. */
  @Column('smallint', { name: 'key_version', default: 1 })
  keyVersion!: number;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'expires_at', precision: 3 })
  expiresAt!: Date;

  /** Time of the terminal transition. */
  @Column({ type: 'timestamptz', name: 'ended_at', precision: 3, nullable: true })
  endedAt!: Date | null;

  @Column('text', { name: 'approved_by', nullable: true })
  approvedBy!: ApprovedBy | null;

  /** Id of the call that consumed the approved session; the id contains its time. */
  @Column('uuid', { name: 'consumption_id', nullable: true })
  consumptionId!: string | null;

  /** Time of the first sender_mismatch event; at most one per session. */
  @Column({ type: 'timestamptz', name: 'sender_mismatch_at', precision: 3, nullable: true })
  senderMismatchAt!: Date | null;
}
