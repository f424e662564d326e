import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

const STATEMENTS = [
  `ALTER TABLE console_sessions ADD COLUMN confirmed_by bytea, ADD COLUMN confirmed_until timestamptz`,
  `ALTER TABLE api_keys ADD COLUMN member_id uuid`,
];

/**
 * The digest of the API key with which a member of an account has confirmed a session of the console, and until when; and the
 * member who knows the text of a key, because a session of theirs made or rotated it. No foreign key: the id stays on the key
 * when the member is deleted.
 */
export class ConfirmedConsoleSessions1700000000070 implements MigrationInterface {
  readonly name = 'ConfirmedConsoleSessions1700000000070';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await underShortLock(runner, statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN member_id');
    await runner.query('ALTER TABLE console_sessions DROP COLUMN confirmed_by, DROP COLUMN confirmed_until');
  }
}
