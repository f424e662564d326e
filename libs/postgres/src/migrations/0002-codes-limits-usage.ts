import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What accounts, brands and keys can be told beside what the main job needs. */
const CONFIGURATION = [
  `ALTER TABLE accounts
    ADD COLUMN otp_countries text[] NOT NULL DEFAULT '{}',
    ADD COLUMN otp_daily_spend_cap_usd numeric(14, 6) CHECK (otp_daily_spend_cap_usd >= 0)`,
  `ALTER TABLE brands
    ADD COLUMN logo_url text,
    ADD COLUMN rcs_agent_id text,
    ADD COLUMN rcs_number_matching boolean NOT NULL DEFAULT false,
    ADD COLUMN sender_id text,
    ADD COLUMN domain text`,
  `ALTER TABLE api_keys
    ADD COLUMN limits jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN last_used_at timestamptz(3)`,
  `CREATE TABLE prices (
    id uuid PRIMARY KEY,
    channel text NOT NULL CHECK (channel IN ('rcs', 'sms_fallback', 'sms_otp')),
    country text NOT NULL CHECK (country ~ '^(\\*|[A-Z]{2}|001)$'),
    usd numeric(14, 6) NOT NULL CHECK (usd >= 0),
    from_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (channel, country, from_at)
  )`,
  // What each price was, and when: what happened keeps its price whatever becomes of the price.
  `CREATE TABLE price_spans (
    price_id uuid NOT NULL,
    channel text NOT NULL,
    country text NOT NULL,
    usd numeric(14, 6) NOT NULL,
    from_at timestamptz(3) NOT NULL,
    held_from timestamptz(3) NOT NULL,
    held_until timestamptz(3)
  )`,
  `CREATE INDEX price_spans_held ON price_spans (price_id) WHERE held_until IS NULL`,
  `CREATE TABLE routes (
    id uuid PRIMARY KEY,
    prefix text NOT NULL CHECK (prefix ~ '^\\+[0-9]{0,15}$'),
    bind_id uuid NOT NULL REFERENCES binds (id),
    priority integer NOT NULL DEFAULT 0,
    weight integer NOT NULL DEFAULT 1 CHECK (weight > 0),
    cost_usd numeric(14, 6) NOT NULL DEFAULT 0 CHECK (cost_usd >= 0),
    source_address text,
    enabled boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE destination_rules (
    id uuid PRIMARY KEY,
    account_id uuid REFERENCES accounts (id),
    prefix text NOT NULL CHECK (prefix ~ '^\\+[0-9]{1,15}$'),
    action text NOT NULL CHECK (action IN ('allow', 'block')),
    reason text NOT NULL,
    origin text NOT NULL CHECK (origin IN ('admin', 'guard')),
    until timestamptz(3),
    strikes smallint NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    UNIQUE NULLS NOT DISTINCT (account_id, prefix, origin)
  )`,
];

/** `country` is ISO 3166-1 alpha-2 or `001`; `test` marks what a test key made: it never leaves the building. */
const SESSIONS = [
  `ALTER TABLE sessions
    ADD COLUMN country text NOT NULL DEFAULT '001',
    ADD COLUMN test boolean NOT NULL DEFAULT false,
    ADD COLUMN brand_name text NOT NULL DEFAULT '',
    ADD COLUMN otp_sender text,
    ADD COLUMN otp_domain text,
    ADD COLUMN otp_digests bytea[],
    ADD COLUMN otp_sends smallint NOT NULL DEFAULT 0,
    ADD COLUMN otp_attempts smallint NOT NULL DEFAULT 0,
    ADD COLUMN otp_sent_at timestamptz(3)`,
  `ALTER TABLE sessions ALTER COLUMN country DROP DEFAULT, ALTER COLUMN brand_name DROP DEFAULT`,
  `CREATE INDEX sessions_account ON sessions (account_id, id)`,
  `CREATE INDEX sessions_phone ON sessions (phone, id)`,
  // For listings of one status; those that are approved are many, and the way to them stays as short as it is.
  `CREATE INDEX sessions_unapproved ON sessions (account_id, status, id)
    WHERE status IN ('expired', 'denied', 'cancelled')`,
  `CREATE INDEX sessions_test_pending ON sessions (phone, created_at) WHERE test AND status = 'pending'`,
];

/** Codes on their way out, and what keeps them few. */
const OUTBOUND = [
  `CREATE TABLE outbound_messages (
    id uuid PRIMARY KEY,
    session_id uuid NOT NULL,
    account_id uuid NOT NULL,
    test boolean NOT NULL,
    destination text NOT NULL,
    destination_prefix text NOT NULL,
    country text NOT NULL,
    sender text NOT NULL,
    text_sealed bytea,
    state text NOT NULL DEFAULT 'queued'
      CHECK (state IN ('queued', 'sending', 'submitted', 'delivered', 'undelivered', 'failed')),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    next_attempt_at timestamptz(3),
    claimed_by uuid,
    claimed_until timestamptz(3),
    attempts smallint NOT NULL DEFAULT 0,
    unknown_fates smallint NOT NULL DEFAULT 0,
    refused_routes uuid[] NOT NULL DEFAULT '{}',
    busy_routes uuid[] NOT NULL DEFAULT '{}',
    route_id uuid,
    bind_id uuid,
    carrier text,
    source text,
    smsc_message_id text,
    submitted_at timestamptz(3),
    ended_at timestamptz(3),
    network_error text,
    cost_usd numeric(14, 6),
    CHECK ((state = 'queued') = (next_attempt_at IS NOT NULL)),
    CHECK ((state = 'sending') = (claimed_until IS NOT NULL)),
    CHECK (state IN ('queued', 'sending') OR text_sealed IS NULL)
  ) PARTITION BY RANGE (id)`,
  `CREATE INDEX outbound_messages_due ON outbound_messages (next_attempt_at) WHERE state = 'queued'`,
  `CREATE INDEX outbound_messages_claimed ON outbound_messages (claimed_until) WHERE state = 'sending'`,
  `CREATE INDEX outbound_messages_test ON outbound_messages (state, submitted_at)
    WHERE test AND state IN ('queued', 'submitted')`,
  `CREATE INDEX outbound_messages_prefix ON outbound_messages (account_id, destination_prefix, id)`,
  `CREATE INDEX outbound_messages_session ON outbound_messages (session_id)`,
  // A response and its receipt may come in either order: whoever comes second finds the other here.
  `CREATE TABLE submissions (
    carrier text NOT NULL,
    smsc_message_id text NOT NULL,
    message_id uuid,
    receipt_state text,
    network_error text,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (carrier, smsc_message_id)
  )`,
  `CREATE INDEX submissions_age ON submissions (updated_at)`,
  `CREATE INDEX submissions_orphaned ON submissions (updated_at) WHERE message_id IS NULL`,
  // Sends in a window that begins with its first; scope is what is counted, subject for whom.
  `CREATE TABLE otp_counters (
    scope text NOT NULL,
    subject text NOT NULL,
    started_at timestamptz(3) NOT NULL,
    ends_at timestamptz(3) NOT NULL,
    sends integer NOT NULL,
    PRIMARY KEY (scope, subject)
  )`,
  `CREATE INDEX otp_counters_end ON otp_counters (ends_at)`,
  `CREATE TABLE otp_spend (
    account_id uuid NOT NULL,
    day date NOT NULL,
    usd numeric(14, 6) NOT NULL,
    PRIMARY KEY (account_id, day)
  )`,
  `CREATE TABLE otp_refusals (
    id uuid NOT NULL UNIQUE,
    account_id uuid NOT NULL,
    hour timestamptz(3) NOT NULL,
    rule text NOT NULL,
    prefix text NOT NULL,
    refused integer NOT NULL,
    last_at timestamptz(3) NOT NULL,
    PRIMARY KEY (account_id, hour, rule, prefix)
  )`,
];

/** Sessions of one hour by account, brand, channel, status and country; a code that was submitted is a row of channel `sms_otp`. */
const USAGE = [
  `CREATE TABLE usage_folds (
    hour timestamptz(3) PRIMARY KEY,
    folded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE usage_hours (
    account_id uuid NOT NULL,
    hour timestamptz(3) NOT NULL,
    brand_id uuid NOT NULL,
    channel text NOT NULL CHECK (channel IN ('rcs', 'sms_fallback', 'sms_otp')),
    status text NOT NULL,
    country text NOT NULL,
    count bigint NOT NULL,
    cost_usd numeric(20, 6) NOT NULL,
    PRIMARY KEY (account_id, hour, brand_id, channel, status, country)
  )`,
];

const REQUESTS = [
  `CREATE TABLE idempotency_keys (
    digest bytea PRIMARY KEY,
    account_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    resource_id uuid NOT NULL,
    claimed_by uuid,
    claimed_until timestamptz(3),
    status smallint,
    body_sealed bytea,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    CHECK ((status IS NULL) = (body_sealed IS NULL))
  )`,
  `CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at)`,
  // The limiter's library decides its columns. Lost with a crash of the server, as Redis may lose it: quotas only begin anew.
  `CREATE UNLOGGED TABLE rate_limits (
    key varchar(255) PRIMARY KEY,
    points integer NOT NULL DEFAULT 0,
    expire bigint
  )`,
  `CREATE TABLE audit_entries (
    id uuid PRIMARY KEY,
    at timestamptz(3) NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    resource text NOT NULL,
    resource_id text NOT NULL,
    before json,
    after json,
    request_id text
  )`,
];

const TABLES = [
  'audit_entries',
  'rate_limits',
  'idempotency_keys',
  'usage_hours',
  'usage_folds',
  'otp_refusals',
  'otp_spend',
  'otp_counters',
  'submissions',
  'outbound_messages',
  'destination_rules',
  'routes',
  'price_spans',
  'prices',
];

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  accounts: ['otp_countries', 'otp_daily_spend_cap_usd'],
  brands: ['logo_url', 'rcs_agent_id', 'rcs_number_matching', 'sender_id', 'domain'],
  api_keys: ['limits', 'last_used_at'],
  sessions: [
    'country',
    'test',
    'brand_name',
    'otp_sender',
    'otp_domain',
    'otp_digests',
    'otp_sends',
    'otp_attempts',
    'otp_sent_at',
  ],
};

/** Codes by SMS, their limits and routes, usage, idempotent requests, the limiter and the audit log. */
export class CodesLimitsUsage1700000000002 implements MigrationInterface {
  readonly name = 'CodesLimitsUsage1700000000002';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...CONFIGURATION, ...SESSIONS, ...OUTBOUND, ...USAGE, ...REQUESTS]) {
      await runner.query(statement);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE ${table}`);
    for (const index of ['sessions_account', 'sessions_phone', 'sessions_unapproved', 'sessions_test_pending']) {
      await runner.query(`DROP INDEX ${index}`);
    }
    for (const [table, columns] of Object.entries(COLUMNS)) {
      await runner.query(`ALTER TABLE ${table} ${columns.map((column) => `DROP COLUMN ${column}`).join(', ')}`);
    }
  }
}
