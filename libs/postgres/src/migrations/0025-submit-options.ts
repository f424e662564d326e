import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['binds', 'smpp_systems', 'routes'];

/**
 * The carrier's requirements on a submit_sm (`libs/carriers/src/submit-options`), and the key of the client certificate that
 * a bind presents, sealed.
 */
export class SubmitOptions1700000000025 implements MigrationInterface {
  readonly name = 'SubmitOptions1700000000025';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES)
      await runner.query(`
        ALTER TABLE ${table} ADD COLUMN submit_options jsonb NOT NULL DEFAULT '{}'
          CHECK (jsonb_typeof(submit_options) = 'object')`);
    await runner.query(`ALTER TABLE binds ADD COLUMN client_key_sealed bytea`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE binds DROP COLUMN client_key_sealed`);
    for (const table of TABLES) await runner.query(`ALTER TABLE ${table} DROP COLUMN submit_options`);
  }
}
