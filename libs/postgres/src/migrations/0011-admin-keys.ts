import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  `CREATE TABLE admin_keys (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (lower(name) <> 'root'),
    role text NOT NULL CHECK (role IN ('owner', 'operator', 'support', 'viewer')),
    prefix text NOT NULL,
    digest bytea NOT NULL UNIQUE,
    last_used_at timestamptz(3),
    revoked_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  // The audit log shows the name as the actor, so no two keys that work have the same one.
  `CREATE UNIQUE INDEX admin_keys_name_key ON admin_keys (lower(name)) WHERE revoked_at IS NULL`,
];

/** Named admin keys with roles. The key of the environment is not a row. */
export class AdminKeys1700000000011 implements MigrationInterface {
  readonly name = 'AdminKeys1700000000011';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of TABLES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE admin_keys');
  }
}
