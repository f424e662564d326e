import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  `CREATE TABLE members (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    phone text,
    email text,
    role text NOT NULL,
    account_id uuid REFERENCES accounts (id),
    oidc_issuer text,
    oidc_subject text,
    last_sign_in_at timestamptz(3),
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT members_role_check CHECK (CASE WHEN account_id IS NULL
      THEN role IN ('owner', 'operator', 'support', 'viewer') ELSE role IN ('developer', 'viewer') END),
    CONSTRAINT members_sign_in_check CHECK (CASE WHEN account_id IS NULL
      THEN (oidc_issuer IS NULL) = (oidc_subject IS NULL)
      ELSE phone IS NOT NULL AND email IS NULL AND oidc_issuer IS NULL AND oidc_subject IS NULL END)
  )`,
  // A sign-in by phone must find one member.
  `CREATE UNIQUE INDEX members_phone_key ON members (phone) WHERE account_id IS NOT NULL`,
  `CREATE UNIQUE INDEX members_email_key ON members (lower(email))`,
  `CREATE UNIQUE INDEX members_subject_key ON members (oidc_issuer, oidc_subject)`,
  `CREATE INDEX members_account_id ON members (account_id)`,
  `CREATE TABLE console_sessions (
    id uuid PRIMARY KEY,
    digest bytea NOT NULL CONSTRAINT console_sessions_digest_key UNIQUE,
    member_id uuid REFERENCES members (id) ON DELETE CASCADE,
    admin_key_id uuid REFERENCES admin_keys (id) ON DELETE CASCADE,
    key_digests bytea[] NOT NULL DEFAULT '{}',
    method text NOT NULL CHECK (method IN ('key', 'oidc', 'phone', 'link')),
    client_address text NOT NULL,
    user_agent text NOT NULL CHECK (octet_length(user_agent) <= 1024),
    created_at timestamptz(3) NOT NULL,
    last_used_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    CHECK (member_id IS NULL OR admin_key_id IS NULL)
  )`,
  `CREATE INDEX console_sessions_member_id ON console_sessions (member_id)`,
  `CREATE INDEX console_sessions_admin_key_id ON console_sessions (admin_key_id)`,
  `CREATE INDEX console_sessions_expires_at ON console_sessions (expires_at)`,
];

/** People with roles, and their sessions of the console. A session is a digest of a cookie. */
export class Members1700000000034 implements MigrationInterface {
  readonly name = 'Members1700000000034';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of TABLES) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE console_sessions');
    await runner.query('DROP TABLE members');
  }
}
