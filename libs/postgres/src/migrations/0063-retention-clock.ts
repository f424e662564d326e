import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The time up to which retention has followed the clock, and when it last moved: a clock that is set forward drops nothing at
 * once (partitions.sql.ts).
 */
const TABLE = `CREATE TABLE retention_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  at timestamptz(3) NOT NULL,
  moved_at timestamptz(3) NOT NULL
)`;

export class RetentionClock1700000000063 implements MigrationInterface {
  readonly name = 'RetentionClock1700000000063';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE retention_clock');
  }
}
