import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Settings that binds have, for the systems that connect in. A system may have at most as many unanswered requests as a bind. */
export class SystemSettings1700000000021 implements MigrationInterface {
  readonly name = 'SystemSettings1700000000021';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE smpp_systems
        ADD COLUMN send_window integer NOT NULL DEFAULT 10 CHECK (send_window BETWEEN 1 AND 1000),
        ADD COLUMN enquire_link_seconds integer NOT NULL DEFAULT 30 CHECK (enquire_link_seconds BETWEEN 1 AND 3600),
        ADD COLUMN response_timeout_seconds integer NOT NULL DEFAULT 10
          CHECK (response_timeout_seconds BETWEEN 1 AND 300),
        ADD COLUMN message_id_base text NOT NULL DEFAULT 'as-is'
          CHECK (message_id_base IN ('as-is', 'hex-to-dec', 'dec-to-hex')),
        ADD COLUMN temporary_statuses integer[] NOT NULL DEFAULT '{8,20,88}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE smpp_systems DROP COLUMN send_window, DROP COLUMN enquire_link_seconds,
        DROP COLUMN response_timeout_seconds, DROP COLUMN message_id_base, DROP COLUMN temporary_statuses`);
  }
}
