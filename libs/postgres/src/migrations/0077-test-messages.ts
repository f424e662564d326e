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

/** A gateway takes a message once, and answers it once: what has been sent is not sent again, whatever a gateway writes. */
const ONCE = [
  `CREATE FUNCTION test_messages_once() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
  BEGIN
    IF (OLD.gateway_id IS NOT NULL AND NEW.gateway_id IS DISTINCT FROM OLD.gateway_id)
      OR (OLD.result IS NOT NULL AND NEW.result IS DISTINCT FROM OLD.result) THEN
      RAISE EXCEPTION 'a test message is taken and answered once' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER test_messages_once BEFORE UPDATE ON test_messages FOR EACH ROW EXECUTE FUNCTION test_messages_once()`,
];

export class TestMessages1700000000077 implements MigrationInterface {
  readonly name = 'TestMessages1700000000077';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TABLE, ...ONCE]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE test_messages');
    await runner.query('DROP FUNCTION test_messages_once');
  }
}
