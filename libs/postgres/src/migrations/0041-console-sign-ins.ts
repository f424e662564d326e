import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  `CREATE TABLE console_sign_ins (
    digest bytea PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('link', 'oidc', 'phone')),
    sealed bytea,
    member_id uuid REFERENCES members (id) ON DELETE CASCADE,
    session_id uuid,
    attempts integer NOT NULL DEFAULT 0,
    code_sent_at timestamptz(3),
    expires_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX console_sign_ins_expires_at ON console_sign_ins (expires_at)`,
];

/** Sign-ins of the console that have begun: one-time links, redirections to an OpenID provider, verifications of a phone. */
export class ConsoleSignIns1700000000041 implements MigrationInterface {
  readonly name = 'ConsoleSignIns1700000000041';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of TABLES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE console_sign_ins');
  }
}
