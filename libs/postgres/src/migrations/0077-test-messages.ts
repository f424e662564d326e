import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Messages that engineers send over a bind to try it. A bind may be deleted meanwhile. */
const TABLE = `
  CREATE TABLE test_messages (
    id uuid PRIMARY KEY,
    bind_id uuid NOT NULL,
    phone text NOT NULL,
    source text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    gateway_id uuid,
    result jsonb,
    CONSTRAINT test_messages_bounds_check CHECK (octet_length(phone) <= 32 AND octet_length(result::text) <= 16384))`;

export class TestMessages1700000000077 implements MigrationInterface {
  readonly name = 'TestMessages1700000000077';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE test_messages');
  }
}
