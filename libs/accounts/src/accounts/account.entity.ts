import type { Uuid } from '@countersign/ids';
import { CreatedAtColumn, EntityTable, TimeColumn } from '@countersign/postgres';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An account (contract, Admin): it requests verifications and receives their events. */
@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid') readonly id!: Uuid;

  @Column('text') readonly name!: string;

  /** Receives events of sessions without their own webhook. */
  @Column('text', { nullable: true }) readonly defaultWebhookUrl!: string | null;

  /** When it was disabled because every delivery failed; null while it is used. */
  @TimeColumn({ nullable: true }) readonly defaultWebhookDisabledAt!: Date | null;

  /** The reason, as text for users; null while it is used. */
  @Column('text', { nullable: true }) readonly defaultWebhookDisabledReason!: string | null;

  /** When the present series of failures of the default URL began; null without one. */
  @TimeColumn({ nullable: true, select: false })
  readonly defaultWebhookFailingSince!: Date | null;

  /** Receives events of test sessions without their own webhook; null for none. */
  @Column('text', { nullable: true }) readonly testWebhookUrl!: string | null;

  /** Opt-in event types, besides `verification.completed`. */
  @Column('text', { array: true, default: '{}' }) readonly webhookEvents!: readonly string[];

  /** ISO 3166-1 alpha-2 codes of the countries to which codes are sent; `*` for all. */
  @Column('text', { array: true, default: '{}' }) readonly otpCountries!: readonly string[];

  /** Maximum cost of codes per day (UTC), a decimal number in US dollars; null for no cap. */
  @Column('numeric', { precision: 14, scale: 6, nullable: true }) readonly otpDailySpendCapUsd!: string | null;

  /** Maximum number of codes per day (UTC). */
  @Column('integer', { default: 1_000 }) readonly otpDailyMessageCap!: number;

  /** Codes per hour that may stay unconverted before any approval earns credits. */
  @Column('integer', { default: 50 }) readonly otpUnconvertedFloor!: number;

  @Column('boolean', { default: true }) readonly active!: boolean;

  /** Sealed with the account's id as context. */
  @Column('bytea', { select: false }) readonly webhookSecretSealed!: Buffer;

  /** Replaced secrets, sealed likewise, the latest first, and until when each still signs. */
  @Column('bytea', { array: true, default: '{}', select: false }) readonly previousWebhookSecretsSealed!: Buffer[];

  @TimeColumn({ array: true, default: '{}', select: false })
  readonly previousWebhookSecretsUntil!: Date[];

  /** Signs webhooks of test sessions. Null until first needed, for an account older than the column. */
  @Column('bytea', { nullable: true, select: false }) readonly testWebhookSecretSealed!: Buffer | null;

  @Column('bytea', { array: true, default: '{}', select: false }) readonly previousTestWebhookSecretsSealed!: Buffer[];

  @TimeColumn({ array: true, default: '{}', select: false })
  readonly previousTestWebhookSecretsUntil!: Date[];

  @CreatedAtColumn() readonly createdAt!: Date;
}

/** An account without its secrets. */
export type Account = Omit<
  AccountEntity,
  'defaultWebhookFailingSince' | 'webhookSecretSealed' | `previous${string}` | 'testWebhookSecretSealed' | 'createdAt'
>;

export const ACCOUNTS = new EntityTable<AccountEntity, Account>(AccountEntity);
