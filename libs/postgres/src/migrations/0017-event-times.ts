import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Times that the role of gateways appends. A time that no Date can hold (`infinity`, the year 290000) would fail the
 * dispatch of its event together with others, and every page that shows the row. NOT VALID as for the audit log: a row that
 * is there already does not stop the migration. Day partitions are made with the constraints of their table.
 */
const TIMES = [
  ['events', 'occurred_at'],
  ['messages', 'received_at'],
  ['card_events', 'received_at'],
] as const;

const addCheck = (table: string, column: string): string => `
  ALTER TABLE ${table} ADD CONSTRAINT ${table}_${column}_check
    CHECK (${column} >= '1970-01-01 00:00:00+00' AND ${column} < '10000-01-01 00:00:00+00') NOT VALID`;

/** Times of events, messages and card events are those of a Date whose year has four digits. */
export class EventTimes1700000000017 implements MigrationInterface {
  readonly name = 'EventTimes1700000000017';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, column] of TIMES) await runner.query(addCheck(table, column));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, column] of TIMES) {
      await runner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_${column}_check`);
    }
  }
}
