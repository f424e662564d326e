import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A test key's webhooks have a URL and secrets of their own. A secret that is missing is made when it is first needed. */
const ACCOUNTS = [
  `ALTER TABLE accounts
    ADD COLUMN test_webhook_url text,
    ADD COLUMN test_webhook_secret_sealed bytea,
    ADD COLUMN previous_test_webhook_secrets_sealed bytea[] NOT NULL DEFAULT '{}',
    ADD COLUMN previous_test_webhook_secrets_until timestamptz(3)[] NOT NULL DEFAULT '{}',
    ADD CHECK (cardinality(previous_test_webhook_secrets_sealed) = cardinality(previous_test_webhook_secrets_until))`,
];

/** Rows about test sessions carry the mode themselves, so that no reader has to look it up. */
const MODES = [
  `ALTER TABLE events ADD COLUMN test boolean NOT NULL DEFAULT false`,
  // The URL of a test session's event is its own, or none: the default URL is that of live events.
  `UPDATE events SET test = true, webhook_url = CASE WHEN events.webhook_url IS NOT NULL THEN sessions.webhook_url END
    FROM sessions WHERE sessions.id = events.session_id AND sessions.test`,
  `ALTER TABLE deliveries ADD COLUMN test boolean NOT NULL DEFAULT false`,
  `UPDATE deliveries SET test = true FROM sessions WHERE sessions.id = deliveries.session_id AND sessions.test`,
  `UPDATE deliveries SET status = 'blocked', next_attempt_at = NULL, claimed_until = NULL,
      ended_at = date_trunc('milliseconds', clock_timestamp())
    FROM sessions WHERE sessions.id = deliveries.session_id AND deliveries.test AND deliveries.status = 'pending'
      AND sessions.webhook_url IS DISTINCT FROM deliveries.url`,
  `ALTER TABLE realtime_tickets ADD COLUMN test boolean NOT NULL DEFAULT false`,
  // Hours that were folded before hold both modes and count as live ones.
  `ALTER TABLE usage_hours ADD COLUMN test boolean NOT NULL DEFAULT false`,
  `ALTER TABLE usage_hours DROP CONSTRAINT usage_hours_pkey,
    ADD PRIMARY KEY (account_id, test, hour, brand_id, channel, status, country)`,
];

const INDEXES = [
  // Readers: the account's list of deliveries, by status or of all.
  `DROP INDEX deliveries_account`,
  `CREATE INDEX deliveries_account ON deliveries (account_id, test, status, id)`,
  // Readers: lists of test sessions and messages, which are few among the live ones. Live rows cost nothing here.
  `CREATE INDEX sessions_test_account ON sessions (account_id, id) WHERE test`,
  `CREATE INDEX sessions_test ON sessions (id) WHERE test`,
  `CREATE INDEX outbound_messages_test_id ON outbound_messages (id) WHERE test`,
  `CREATE INDEX messages_test ON messages (id) WHERE link_id = '00000000-0000-0000-0000-000000000000'`,
];

/** Set by the one call that consumed the approved session. */
const CONSUMPTION = [`ALTER TABLE sessions ADD COLUMN consumption_id uuid`];

const DOWN = [
  `ALTER TABLE sessions DROP COLUMN consumption_id`,
  `DROP INDEX messages_test`,
  `DROP INDEX outbound_messages_test_id`,
  `DROP INDEX sessions_test`,
  `DROP INDEX sessions_test_account`,
  `DROP INDEX deliveries_account`,
  `CREATE INDEX deliveries_account ON deliveries (account_id, status, id)`,
  `DELETE FROM usage_hours WHERE test`,
  `ALTER TABLE usage_hours DROP CONSTRAINT usage_hours_pkey,
    ADD PRIMARY KEY (account_id, hour, brand_id, channel, status, country)`,
  `ALTER TABLE usage_hours DROP COLUMN test`,
  `ALTER TABLE realtime_tickets DROP COLUMN test`,
  `ALTER TABLE deliveries DROP COLUMN test`,
  `ALTER TABLE events DROP COLUMN test`,
  `ALTER TABLE accounts DROP COLUMN test_webhook_url, DROP COLUMN test_webhook_secret_sealed,
    DROP COLUMN previous_test_webhook_secrets_sealed, DROP COLUMN previous_test_webhook_secrets_until`,
];

/** Rows of test keys are apart from rows of live keys; an approved session can be consumed once. */
export class TestMode1700000000006 implements MigrationInterface {
  readonly name = 'TestMode1700000000006';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...ACCOUNTS, ...MODES, ...INDEXES, ...CONSUMPTION]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
