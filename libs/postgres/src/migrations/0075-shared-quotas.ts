import type { MigrationInterface, QueryRunner } from 'typeorm';
import { underShortLock } from './under-short-lock.js';

/** The key whose quota another key uses, or the account for keys that its members made. Existing keys keep their own. */
export class SharedQuotas1700000000075 implements MigrationInterface {
  readonly name = 'SharedQuotas1700000000075';

  async up(runner: QueryRunner): Promise<void> {
    await underShortLock(runner, 'ALTER TABLE api_keys ADD COLUMN quota_id uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN quota_id');
  }
}
