import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

const STATEMENTS = [
  `ALTER TABLE console_sign_ins
    ADD COLUMN admin_key_id uuid REFERENCES admin_keys (id) ON DELETE CASCADE,
    ADD COLUMN key_digests bytea[] NOT NULL DEFAULT '{}',
    DROP CONSTRAINT console_sign_ins_kind_check,
    ADD CONSTRAINT console_sign_ins_kind_check CHECK (kind IN ('link', 'oidc', 'phone', 'second_step'))`,
  `ALTER TABLE admin_keys ADD COLUMN phone text`,
];

/** The limits that new ones get, see sign-in-brand.store.ts in libs/accounts. The id is SIGN_IN_ACCOUNT_ID of libs/keys. */
const SIGN_IN_ACCOUNT = `
  UPDATE accounts SET otp_unconverted_floor = 1000000, otp_daily_message_cap = 1000000
  WHERE id = '00000000-0000-7000-8000-000000000001'`;

/** The second step of a sign-in to the console, the phones of the holders of admin keys, and codes of sign-ins without a budget. */
export class SecondSteps1700000000055 implements MigrationInterface {
  readonly name = 'SecondSteps1700000000055';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await underShortLock(runner, statement);
    await runner.query(SIGN_IN_ACCOUNT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE admin_keys DROP COLUMN phone`);
    await runner.query(`DELETE FROM console_sign_ins WHERE kind = 'second_step'`);
    await runner.query(`ALTER TABLE console_sign_ins DROP COLUMN admin_key_id, DROP COLUMN key_digests,
      DROP CONSTRAINT console_sign_ins_kind_check,
      ADD CONSTRAINT console_sign_ins_kind_check CHECK (kind IN ('link', 'oidc', 'phone'))`);
  }
}
