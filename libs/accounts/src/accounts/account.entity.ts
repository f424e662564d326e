import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The row of an account (contract, Admin). */
@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text', { name: 'default_webhook_url', nullable: true })
  defaultWebhookUrl!: string | null;

  @Column('text', { name: 'webhook_events', array: true, default: '{}' })
  webhookEvents!: string[];

  @Column('text', { name: 'otp_countries', array: true, default: '{}' })
  otpCountries!: string[];

  /** A decimal number as text: money is never a floating-point number. */
  @Column('numeric', { name: 'otp_daily_spend_cap_usd', precision: 14, scale: 6, nullable: true })
  otpDailySpendCapUsd!: string | null;

  /** Maximum number of codes per day (UTC). */
  @Column('integer', { name: 'otp_daily_message_cap', default: 1_000 })
  otpDailyMessageCap!: number;

  /** Codes per hour that may stay unconverted before any approval earns credits. */
  @Column('integer', { name: 'otp_unconverted_floor', default: 50 })
  otpUnconvertedFloor!: number;

  /** Sealed with the account's id as context. */
  @Column('bytea', { name: 'webhook_secret_sealed', select: false })
  webhookSecretSealed!: Buffer;

  /** Replaced secrets, sealed likewise, the latest first, and until when each still signs. */
  @Column('bytea', { name: 'previous_webhook_secrets_sealed', array: true, default: '{}', select: false })
  previousWebhookSecretsSealed!: Buffer[];

  @Column({ type: 'timestamptz', name: 'previous_webhook_secrets_until', array: true, precision: 3, default: '{}' })
  previousWebhookSecretsUntil!: Date[];

  /** Receives events of test sessions without their own URL. */
  @Column('text', { name: 'test_webhook_url', nullable: true })
  testWebhookUrl!: string | null;

  /** Signs webhooks of test sessions. Null until first needed, for an account older than the column. */
  @Column('bytea', { name: 'test_webhook_secret_sealed', nullable: true, select: false })
  testWebhookSecretSealed!: Buffer | null;

  @Column('bytea', { name: 'previous_test_webhook_secrets_sealed', array: true, default: '{}', select: false })
  previousTestWebhookSecretsSealed!: Buffer[];

  @Column({
    type: 'timestamptz',
    name: 'previous_test_webhook_secrets_until',
    array: true,
    precision: 3,
    default: '{}',
  })
  previousTestWebhookSecretsUntil!: Date[];

  /** When the present series of failures of the default URL began; null without one. */
  @Column({ type: 'timestamptz', name: 'default_webhook_failing_since', precision: 3, nullable: true })
  defaultWebhookFailingSince!: Date | null;

  @Column({ type: 'timestamptz', name: 'default_webhook_disabled_at', precision: 3, nullable: true })
  defaultWebhookDisabledAt!: Date | null;

  @Column('text', { name: 'default_webhook_disabled_reason', nullable: true })
  defaultWebhookDisabledReason!: string | null;

  @Column('boolean', { default: true })
  active!: boolean;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3, default: () => 'clock_timestamp()' })
  createdAt!: Date;
}
