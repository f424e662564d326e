import type { MigrationInterface, QueryRunner } from 'typeorm';

const QUOTA = [
  `ALTER TABLE idempotency_keys ADD COLUMN test boolean NOT NULL DEFAULT false`,
  // Reader: the quota of an account, by a sample. Of 64 keys 63 cost nothing here; digests are keyed, so no caller chooses
  // which.
  `CREATE INDEX idempotency_keys_sample ON idempotency_keys (account_id, test, created_at) WHERE get_byte(digest, 0) < 4`,
];

/** Idempotency keys of an account can be counted. */
export class IdempotencyQuota1700000000014 implements MigrationInterface {
  readonly name = 'IdempotencyQuota1700000000014';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of QUOTA) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX idempotency_keys_sample');
    await runner.query('ALTER TABLE idempotency_keys DROP COLUMN test');
  }
}
