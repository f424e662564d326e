import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/** Octets of the attempts of one message as text; twice what the statements of `outbound.sql.ts` write. */
const LONGEST_LOG = 32_768;
const MOST_ATTEMPTS = 40;
/** Octets of a reason or an address. */
const SHORT = 200;

/**
 * The attempts of each code with their results, the last refused bind of each system, and the guard's refusals of codes of
 * each session. The previous release records none of them. A gateway may write the first two, so their sizes are bounded as
 * in 0022-gateway-bounds.ts.
 */
export class AttemptsAndRefusals1700000000028 implements MigrationInterface {
  readonly name = 'AttemptsAndRefusals1700000000028';

  async up(runner: QueryRunner): Promise<void> {
    // First, so that no other table is locked while this one is waited for.
    await underShortLock(
      runner,
      `ALTER TABLE outbound_messages ADD COLUMN attempt_log jsonb NOT NULL DEFAULT '[]',
        ADD CONSTRAINT outbound_messages_attempt_log_check CHECK (octet_length(attempt_log::text) <= ${LONGEST_LOG}
          AND CASE WHEN jsonb_typeof(attempt_log) = 'array' THEN jsonb_array_length(attempt_log) <= ${MOST_ATTEMPTS}
            ELSE false END) NOT VALID`,
    );
    await runner.query(`
      CREATE TABLE system_refusals (
        system_id uuid PRIMARY KEY REFERENCES smpp_systems (id) ON DELETE CASCADE,
        refusals bigint NOT NULL CHECK (refusals BETWEEN 1 AND 9007199254740991),
        last_at timestamptz(3) NOT NULL
          CHECK (last_at >= '1970-01-01 00:00:00+00' AND last_at < '10000-01-01 00:00:00+00'),
        last_reason text NOT NULL CHECK (octet_length(last_reason) <= ${SHORT}),
        last_address text NOT NULL CHECK (octet_length(last_address) <= ${SHORT})
      )`);
    await runner.query(`
      CREATE TABLE otp_session_refusals (
        session_id uuid NOT NULL,
        rule text NOT NULL,
        refused integer NOT NULL,
        first_at timestamptz(3) NOT NULL,
        last_at timestamptz(3) NOT NULL,
        PRIMARY KEY (session_id, rule)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE otp_session_refusals');
    await runner.query('DROP TABLE system_refusals');
    await underShortLock(runner, 'ALTER TABLE outbound_messages DROP COLUMN attempt_log');
  }
}
