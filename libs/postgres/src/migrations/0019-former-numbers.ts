import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Numbers that were deleted or replaced: a carrier may still write the national digits of one. */
const FORMER_NUMBERS = `CREATE TABLE former_numbers (
  number text PRIMARY KEY CHECK (number ~ '^\\+[1-9][0-9]{6,14}$'))`;

/** Those of earlier releases, by the audit log: it is read once, here. */
const FROM_AUDIT = `
  INSERT INTO former_numbers
  SELECT DISTINCT before ->> 'number' FROM audit_entries
  WHERE resource = 'inbound-numbers' AND before ->> 'number' ~ '^\\+[1-9][0-9]{6,14}$'
    AND before ->> 'number' IS DISTINCT FROM after ->> 'number'`;

/** Long numbers that were ours; gateways have no right on them. */
export class FormerNumbers1700000000019 implements MigrationInterface {
  readonly name = 'FormerNumbers1700000000019';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(FORMER_NUMBERS);
    await runner.query(FROM_AUDIT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE former_numbers');
  }
}
