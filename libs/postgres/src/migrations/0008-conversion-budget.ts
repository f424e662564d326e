import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONFIGURATION = [
  `ALTER TABLE accounts
    ADD COLUMN otp_daily_message_cap integer NOT NULL DEFAULT 1000 CHECK (otp_daily_message_cap >= 0),
    ADD COLUMN otp_unconverted_floor integer NOT NULL DEFAULT 50 CHECK (otp_unconverted_floor >= 0)`,
  `ALTER TABLE destination_rules ADD COLUMN kinds text[] NOT NULL DEFAULT '{}'`,
  // Wrong codes that one session takes at most, decided when it is created.
  `ALTER TABLE sessions ADD COLUMN otp_attempt_limit smallint NOT NULL DEFAULT 5`,
];

/**
 * Scope is '*' for all sends of an account, 'day' for those of one UTC day, a country, or a block of numbers ('+1415555').
 * A slot is one minute, five minutes for a block, one day for 'day'. Rows are deleted after `until`. Sends and approvals
 * are two tables, so that neither writer waits for the other's row locks.
 */
const BUDGET = [
  `CREATE TABLE otp_sends (
    account_id uuid NOT NULL,
    scope text NOT NULL,
    slot timestamptz(3) NOT NULL,
    until timestamptz(3) NOT NULL,
    sends integer NOT NULL,
    PRIMARY KEY (account_id, scope, slot)
  )`,
  `CREATE INDEX otp_sends_until ON otp_sends (until)`,
  // settled counts sends by the slot in which they were sent; approvals counts phones by the slot of their approval.
  `CREATE TABLE otp_approvals (
    account_id uuid NOT NULL,
    scope text NOT NULL,
    slot timestamptz(3) NOT NULL,
    until timestamptz(3) NOT NULL,
    settled integer NOT NULL,
    approvals integer NOT NULL,
    PRIMARY KEY (account_id, scope, slot)
  )`,
  `CREATE INDEX otp_approvals_until ON otp_approvals (until)`,
  // Phones that approved a live session of the account, by keyed digest: the last UTC day on which the phone earned
  // credits, and the last on which its approval counted for its block of numbers.
  `CREATE TABLE otp_phones (
    account_id uuid NOT NULL,
    phone bytea NOT NULL,
    credited_on date NOT NULL,
    converted_on date,
    PRIMARY KEY (account_id, phone)
  )`,
  `CREATE INDEX otp_phones_age ON otp_phones (credited_on)`,
  // Compared codes of live sessions by minute, with digests of up to 50 different phones.
  `CREATE TABLE otp_checks (
    account_id uuid NOT NULL,
    slot timestamptz(3) NOT NULL,
    checks integer NOT NULL,
    failed integer NOT NULL,
    phones bytea[] NOT NULL,
    PRIMARY KEY (account_id, slot)
  )`,
  `CREATE INDEX otp_checks_slot ON otp_checks (slot)`,
];

const DOWN = [
  `DROP TABLE otp_checks`,
  `DROP TABLE otp_phones`,
  `DROP TABLE otp_approvals`,
  `DROP TABLE otp_sends`,
  `ALTER TABLE sessions DROP COLUMN otp_attempt_limit`,
  `ALTER TABLE destination_rules DROP COLUMN kinds`,
  `ALTER TABLE accounts DROP COLUMN otp_daily_message_cap, DROP COLUMN otp_unconverted_floor`,
];

/** The conversion budget of codes, the daily cap of messages and the count of wrong codes. */
export class ConversionBudget1700000000008 implements MigrationInterface {
  readonly name = 'ConversionBudget1700000000008';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...CONFIGURATION, ...BUDGET]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}
