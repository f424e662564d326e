import type { MigrationInterface, QueryRunner } from 'typeorm';

const WEBHOOKS = [
  // Secrets that were replaced sign beside the new one, each until its time, the latest first. Of a default URL: since when
  // nothing but failure came of it, and when and why that became too long.
  `ALTER TABLE accounts
    ADD COLUMN previous_webhook_secrets_sealed bytea[] NOT NULL DEFAULT '{}',
    ADD COLUMN previous_webhook_secrets_until timestamptz(3)[] NOT NULL DEFAULT '{}',
    ADD COLUMN default_webhook_failing_since timestamptz(3),
    ADD COLUMN default_webhook_disabled_at timestamptz(3),
    ADD COLUMN default_webhook_disabled_reason text,
    ADD CHECK (cardinality(previous_webhook_secrets_sealed) = cardinality(previous_webhook_secrets_until)),
    ADD CHECK ((default_webhook_disabled_at IS NULL) = (default_webhook_disabled_reason IS NULL))`,
  // Some events tell of an account and of no session.
  `ALTER TABLE events ALTER COLUMN session_id DROP NOT NULL`,
  // A retry that somebody asked for is one attempt beside the schedule, which goes on where it was, if it was not over.
  `ALTER TABLE deliveries ALTER COLUMN session_id DROP NOT NULL,
    ADD COLUMN ended_at timestamptz(3),
    ADD COLUMN retry_asked boolean NOT NULL DEFAULT false,
    ADD COLUMN schedule_resumes_at timestamptz(3)`,
  `UPDATE deliveries SET ended_at = date_trunc('milliseconds', clock_timestamp()) WHERE status <> 'pending'`,
  // An account reads its own deliveries, newest first, of one status or of each: few of many are found as fast as many.
  `CREATE INDEX deliveries_account ON deliveries (account_id, status, id)`,
  // Bodies that are to be forgotten, longest ended first.
  `CREATE INDEX deliveries_bodies ON deliveries (ended_at) WHERE body_sealed IS NOT NULL AND ended_at IS NOT NULL`,
];

const REALTIME = [
  // What lets a browser see one session, once, for as long as the key that asked for it is good. Only the ticket's keyed
  // digest is kept.
  `CREATE TABLE realtime_tickets (
    digest bytea PRIMARY KEY,
    session_id uuid NOT NULL,
    account_id uuid NOT NULL,
    key_id uuid NOT NULL,
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    used_at timestamptz(3)
  )`,
  `CREATE INDEX realtime_tickets_expiry ON realtime_tickets (expires_at)`,
];

const DOWN = [
  `DROP TABLE realtime_tickets`,
  `DROP INDEX deliveries_bodies`,
  `DROP INDEX deliveries_account`,
  `DELETE FROM deliveries WHERE session_id IS NULL`,
  `ALTER TABLE deliveries DROP COLUMN ended_at, DROP COLUMN retry_asked, DROP COLUMN schedule_resumes_at,
    ALTER COLUMN session_id SET NOT NULL`,
  `DELETE FROM events WHERE session_id IS NULL`,
  `ALTER TABLE events ALTER COLUMN session_id SET NOT NULL`,
  `ALTER TABLE accounts DROP COLUMN previous_webhook_secrets_sealed, DROP COLUMN previous_webhook_secrets_until,
    DROP COLUMN default_webhook_failing_since, DROP COLUMN default_webhook_disabled_at,
    DROP COLUMN default_webhook_disabled_reason`,
];

/** Webhooks that their account can look after, and a live channel. */
export class WebhooksRealtime1700000000005 implements MigrationInterface {
  readonly name = 'WebhooksRealtime1700000000005';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...WEBHOOKS, ...REALTIME]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
