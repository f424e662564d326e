import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Versions of the master key that rows depend on. A release without versions knows version 1 alone, so the default is
 * right for its rows. A session's token and a card's buttons are derived again later, with the version of their row.
 */
const VERSIONS = [
  `ALTER TABLE sessions ADD COLUMN key_version smallint NOT NULL DEFAULT 1`,
  `ALTER TABLE cards ADD COLUMN key_version smallint NOT NULL DEFAULT 1`,
  `ALTER TABLE api_keys ADD COLUMN digest_version smallint NOT NULL DEFAULT 1`,
  `ALTER TABLE admin_keys ADD COLUMN digest_version smallint NOT NULL DEFAULT 1`,
  `ALTER TABLE smpp_systems ADD COLUMN digest_version smallint NOT NULL DEFAULT 1`,
  `ALTER TABLE otp_phones ADD COLUMN digest_version smallint NOT NULL DEFAULT 1`,
  // All digests of one row are of one version.
  `ALTER TABLE sender_formats ADD COLUMN digest_version smallint NOT NULL DEFAULT 1`,
  `ALTER TABLE idempotency_keys ADD COLUMN digest_version smallint NOT NULL DEFAULT 1`,
];

/**
 * One value by which every process recognises a key that it is configured with. `retired_at`: a process that does not
 * list the version has found that no row needs it.
 */
const CHECKS = `CREATE TABLE key_checks (
  purpose text NOT NULL CHECK (purpose IN ('master', 'entropy')),
  version integer NOT NULL,
  value bytea NOT NULL,
  fingerprint text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  retired_at timestamptz(3),
  PRIMARY KEY (purpose, version))`;

const DOWN = [
  `DROP TABLE key_checks`,
  `ALTER TABLE idempotency_keys DROP COLUMN digest_version`,
  `ALTER TABLE sender_formats DROP COLUMN digest_version`,
  `ALTER TABLE otp_phones DROP COLUMN digest_version`,
  `ALTER TABLE smpp_systems DROP COLUMN digest_version`,
  `ALTER TABLE admin_keys DROP COLUMN digest_version`,
  `ALTER TABLE api_keys DROP COLUMN digest_version`,
  `ALTER TABLE cards DROP COLUMN key_version`,
  `ALTER TABLE sessions DROP COLUMN key_version`,
];

/** Keys have versions, and a wrong key is recognised. */
export class KeyRing1700000000012 implements MigrationInterface {
  readonly name = 'KeyRing1700000000012';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...VERSIONS, CHECKS]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
