import { TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ApprovedBy, Channel, SessionStatus } from './rules/session.js';

/** The row of a session (contract, Session), partitioned by id. Written by SessionStore only. */
@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn('uuid') readonly id!: string;

  @Column('uuid') readonly accountId!: string;

  @Column('uuid') readonly brandId!: string;

  @Column('text') readonly phone!: string;

  /** ISO 3166-1 alpha-2, or `001` for a phone without a country. */
  @Column('text') readonly country!: string;

  /** Created with a test key: it never reaches a carrier or the RCS platform. */
  @Column('boolean', { default: false }) readonly test!: boolean;

  @Column('text') readonly status!: SessionStatus;

  @Column('text') readonly channel!: Channel;

  @Column('bytea', { select: false }) readonly tokenDigest!: Buffer;

  @Column('text') readonly clientChallenge!: string;

  @Column('text') readonly brandSlug!: string;

  @Column('text') readonly instruction!: string;

  @Column('text') readonly brandName!: string;

  @Column('text', { nullable: true }) readonly otpSender!: string | null;

  @Column('text', { nullable: true }) readonly otpDomain!: string | null;

  /** The keyed digest of every code sent. Any of them is accepted. */
  @Column('bytea', { array: true, nullable: true, select: false }) readonly otpDigests!: Buffer[] | null;

  @Column('smallint', { default: 0, select: false }) readonly otpSends!: number;

  /** Codes checked: each is counted before its comparison. */
  @Column('smallint', { default: 0, select: false }) readonly otpAttempts!: number;

  /** Limit of wrong codes, set at creation. */
  @Column('smallint', { default: 5, select: false }) readonly otpAttemptLimit!: number;

  @TimeColumn({ nullable: true, select: false }) readonly otpSentAt!: Date | null;

  @Column('text') readonly inboundNumber!: string;

  @Column('text', { nullable: true }) readonly webhookUrl!: string | null;

  @Column('boolean') readonly allowSmsOtp!: boolean;

  /**
   * `json` and not `jsonb`: it keeps the caller's key order. A parsed object loses it, so statements select it as
   * text.
   */
  @Column('json') readonly metadata!: Readonly<Record<string, string>>;

  @Column('integer') readonly entropyKeyVersion!: number;

  /** Version of the master key from which its token and the buttons of its card are derived. */
  @Column('smallint', { default: 1 }) readonly keyVersion!: number;

  @TimeColumn() readonly createdAt!: Date;

  @TimeColumn() readonly expiresAt!: Date;

  /** Time of the terminal transition. */
  @TimeColumn({ nullable: true }) readonly endedAt!: Date | null;

  @Column('text', { nullable: true }) readonly approvedBy!: ApprovedBy | null;

  /** Id of the call that consumed the approved session; the id contains its time. */
  @Column('uuid', { nullable: true, select: false }) readonly consumptionId!: string | null;

  /** The transactions that created it, set its channel to `rcs` and ended it. Usage folds changes by them. */
  @Column('bigint', { nullable: true, default: () => 'pg_current_xact_id()', select: false })
  readonly createdXid!: string | null;

  @Column('bigint', { nullable: true, select: false }) readonly rcsXid!: string | null;

  @Column('bigint', { nullable: true, select: false }) readonly endedXid!: string | null;

  /** Time of the first sender_mismatch event; at most one per session. */
  @TimeColumn({ nullable: true }) readonly senderMismatchAt!: Date | null;
}
