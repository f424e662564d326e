import type { MigrationInterface, QueryRunner } from 'typeorm';

const CONFIGURATION = [
  `CREATE TABLE accounts (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    default_webhook_url text,
    webhook_events text[] NOT NULL DEFAULT '{}',
    webhook_secret_sealed bytea NOT NULL,
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE brands (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    name text NOT NULL,
    slug text NOT NULL UNIQUE CHECK (slug ~ '^[A-Z0-9]{2,12}$'),
    instruction text NOT NULL,
    entropy_key_version integer NOT NULL CHECK (entropy_key_version > 0),
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES accounts (id),
    kind text NOT NULL CHECK (kind IN ('live', 'test')),
    name text NOT NULL,
    scopes text[] NOT NULL,
    prefix text NOT NULL,
    digest bytea NOT NULL UNIQUE,
    revoked_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE inbound_numbers (
    id uuid PRIMARY KEY,
    number text NOT NULL UNIQUE CHECK (number ~ '^(\\+[0-9]{2,15}|[0-9]{3,8})$'),
    countries text[] NOT NULL,
    brand_id uuid REFERENCES brands (id),
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE smpp_systems (
    id uuid PRIMARY KEY,
    system_id text NOT NULL UNIQUE CHECK (length(system_id) BETWEEN 1 AND 15),
    password_digest bytea NOT NULL,
    carrier text NOT NULL,
    bind_types text[] NOT NULL DEFAULT '{transmitter,receiver,transceiver}',
    allowed_cidrs text[] NOT NULL DEFAULT '{}',
    max_connections integer NOT NULL DEFAULT 4,
    tls_required boolean NOT NULL DEFAULT false,
    trusted_for_mo boolean NOT NULL DEFAULT false,
    default_alphabet text NOT NULL DEFAULT 'gsm',
    retryable_mo_status integer NOT NULL DEFAULT 20,
    enabled boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
  `CREATE TABLE binds (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    carrier text NOT NULL,
    hosts jsonb NOT NULL,
    tls jsonb NOT NULL DEFAULT '{"enabled": false}',
    system_id text NOT NULL,
    password_sealed bytea NOT NULL,
    system_type text NOT NULL DEFAULT '',
    bind_type text NOT NULL DEFAULT 'transceiver',
    interface_version text NOT NULL DEFAULT '3.4',
    address_range text NOT NULL DEFAULT '',
    send_window integer NOT NULL DEFAULT 10,
    enquire_link_seconds integer NOT NULL DEFAULT 30,
    response_timeout_seconds integer NOT NULL DEFAULT 10,
    default_alphabet text NOT NULL DEFAULT 'gsm',
    retryable_mo_status integer NOT NULL DEFAULT 20,
    trusted_for_mo boolean NOT NULL DEFAULT false,
    enabled boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
];

/**
 * Range-partitioned on the id by day: an id begins with the millisecond it was made. Partitions are made later, and
 * bring the indexes that only a partition can have (partitions.sql.ts), the unique one on the token digest.
 */
const PARTITIONED = [
  `CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    phone text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'approved', 'expired', 'denied', 'cancelled')),
    channel text NOT NULL CHECK (channel IN ('rcs', 'sms_fallback')),
    token_digest bytea NOT NULL,
    client_challenge text NOT NULL,
    brand_slug text NOT NULL,
    instruction text NOT NULL,
    inbound_number text NOT NULL,
    webhook_url text,
    allow_sms_otp boolean NOT NULL,
    metadata json NOT NULL,
    entropy_key_version integer NOT NULL,
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    approved_by text CHECK (approved_by IN ('mo', 'rcs', 'otp')),
    sender_mismatch_at timestamptz(3),
    CHECK ((status = 'pending') = (ended_at IS NULL)),
    CHECK ((status = 'approved') = (approved_by IS NOT NULL))
  ) PARTITION BY RANGE (id)`,
  `CREATE INDEX sessions_due ON sessions (expires_at) WHERE status = 'pending'`,
  `CREATE TABLE messages (
    id uuid PRIMARY KEY,
    direction text NOT NULL CHECK (direction IN ('in', 'out')),
    carrier text NOT NULL,
    link_id uuid NOT NULL,
    source text NOT NULL,
    source_ton smallint NOT NULL,
    source_npi smallint NOT NULL,
    destination text NOT NULL,
    data_coding smallint NOT NULL,
    text_sealed bytea NOT NULL,
    part_number smallint,
    part_total smallint,
    fate text NOT NULL CHECK (fate IN
      ('matched', 'duplicate', 'wrong_sender', 'unknown_token', 'expired', 'ended', 'no_token', 'untrusted')),
    session_id uuid,
    account_id uuid,
    received_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  ) PARTITION BY RANGE (id)`,
  `CREATE TABLE events (
    id uuid PRIMARY KEY,
    type text NOT NULL,
    account_id uuid NOT NULL,
    session_id uuid NOT NULL,
    data json NOT NULL,
    webhook_url text,
    occurred_at timestamptz(3) NOT NULL,
    dispatched_at timestamptz(3)
  ) PARTITION BY RANGE (id)`,
  `CREATE INDEX events_undispatched ON events (id) WHERE dispatched_at IS NULL`,
  `CREATE TABLE deliveries (
    id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    session_id uuid NOT NULL,
    type text NOT NULL,
    url text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed', 'blocked')),
    body_sealed bytea,
    attempts jsonb NOT NULL DEFAULT '[]',
    next_attempt_at timestamptz(3),
    claimed_until timestamptz(3),
    occurred_at timestamptz(3) NOT NULL,
    CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
  ) PARTITION BY RANGE (id)`,
  `CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE status = 'pending'`,
];

/** Parts of long messages meet here; the row of the whole serialises its parts across gateways. */
const CONCATENATION = [
  `CREATE TABLE concatenations (
    key bytea PRIMARY KEY,
    total smallint NOT NULL,
    updated_at timestamptz(3) NOT NULL
  )`,
  `CREATE INDEX concatenations_age ON concatenations (updated_at)`,
  `CREATE TABLE concatenation_parts (
    key bytea NOT NULL REFERENCES concatenations (key) ON DELETE CASCADE,
    part_number smallint NOT NULL,
    text_sealed bytea NOT NULL,
    PRIMARY KEY (key, part_number)
  )`,
];

const HOUSEKEEPING = [
  `CREATE TABLE row_leases (
    name text PRIMARY KEY,
    owner uuid NOT NULL,
    expires_at timestamptz(3) NOT NULL
  )`,
];

const TABLES = [
  'row_leases',
  'concatenation_parts',
  'concatenations',
  'deliveries',
  'events',
  'messages',
  'sessions',
  'binds',
  'smpp_systems',
  'inbound_numbers',
  'api_keys',
  'brands',
  'accounts',
];

/** The tables of the main job: who may ask, who may send, sessions, messages, events and their deliveries. */
export class FirstTables1700000000001 implements MigrationInterface {
  readonly name = 'FirstTables1700000000001';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...CONFIGURATION, ...PARTITIONED, ...CONCATENATION, ...HOUSEKEEPING]) {
      await runner.query(statement);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE ${table}`);
  }
}
