import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Outbind (SMPP 3.4, 4.1.7). Of binds whose carrier opens the connection: the `system_id` and the networks of the carrier, and
 * the password of its outbind, sealed. Of systems to which the gateway connects: the host, the `system_id` and the password of
 * our outbind, and the key of its client certificate, sealed.
 */
export class Outbind1700000000026 implements MigrationInterface {
  readonly name = 'Outbind1700000000026';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE binds
        ADD COLUMN outbind jsonb CHECK (jsonb_typeof(outbind) = 'object'),
        ADD COLUMN outbind_password_sealed bytea,
        ADD CONSTRAINT binds_outbind_has_password CHECK ((outbind IS NULL) = (outbind_password_sealed IS NULL))`);
    await runner.query(`
      ALTER TABLE smpp_systems
        ADD COLUMN outbind jsonb CHECK (jsonb_typeof(outbind) = 'object'),
        ADD COLUMN outbind_password_sealed bytea,
        ADD COLUMN outbind_client_key_sealed bytea,
        ADD CONSTRAINT smpp_systems_outbind_has_password CHECK ((outbind IS NULL) = (outbind_password_sealed IS NULL))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE smpp_systems DROP COLUMN outbind_client_key_sealed, DROP COLUMN outbind_password_sealed, DROP COLUMN outbind`);
    await runner.query(`ALTER TABLE binds DROP COLUMN outbind_password_sealed, DROP COLUMN outbind`);
  }
}
