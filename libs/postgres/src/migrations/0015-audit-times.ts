import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The daemons' role appends entries, and whoever holds it could append a time that no Date can hold (`infinity`, the year
 * 290000); every page with that entry would fail. NOT VALID: an entry that is there already does not stop the migration.
 */
const CHECK_TIMES = `
  ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_at_check
    CHECK (at >= '2000-01-01 00:00:00+00' AND at < '10000-01-01 00:00:00+00') NOT VALID`;

/** Times of audit entries have four digits of year. */
export class AuditTimes1700000000015 implements MigrationInterface {
  readonly name = 'AuditTimes1700000000015';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CHECK_TIMES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_at_check');
  }
}
