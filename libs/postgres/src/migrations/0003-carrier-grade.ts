import type { MigrationInterface, QueryRunner } from 'typeorm';

const BINDS = [
  // What engineers steer. `generation` counts the reconnects they asked for: a connection made under an older one is made anew.
  `ALTER TABLE binds
    ADD COLUMN connections integer NOT NULL DEFAULT 1 CHECK (connections BETWEEN 1 AND 32),
    ADD COLUMN submit_per_second integer NOT NULL DEFAULT 50 CHECK (submit_per_second BETWEEN 1 AND 10000),
    ADD COLUMN message_id_base text NOT NULL DEFAULT 'as-is'
      CHECK (message_id_base IN ('as-is', 'hex-to-dec', 'dec-to-hex')),
    ADD COLUMN temporary_statuses integer[] NOT NULL DEFAULT '{8,20,88}',
    ADD COLUMN generation integer NOT NULL DEFAULT 0,
    ADD COLUMN full_trace_until timestamptz(3)`,
  `ALTER TABLE smpp_systems
    ADD COLUMN submit_per_second integer CHECK (submit_per_second BETWEEN 1 AND 100000)`,
  // A gateway that runs; one that has not been seen for the time of a lease is dead.
  `CREATE TABLE gateways (
    id uuid PRIMARY KEY,
    host text NOT NULL,
    version text NOT NULL,
    started_at timestamptz(3) NOT NULL,
    seen_at timestamptz(3) NOT NULL,
    stopping boolean NOT NULL DEFAULT false
  )`,
  // One row per wanted connection of a bind: who may act on it. The epoch rises with every new owner; whoever writes for
  // the connection names the epoch it holds. Status is what the owner last saw. No reference to binds: the connection of a
  // bind that was deleted is held until it is drained, and what is written for it meanwhile names the lease.
  `CREATE TABLE bind_connections (
    bind_id uuid NOT NULL,
    slot smallint NOT NULL,
    owner uuid,
    epoch bigint NOT NULL DEFAULT 0,
    expires_at timestamptz(3),
    status jsonb,
    PRIMARY KEY (bind_id, slot)
  )`,
  // Connections of systems that are bound to a gateway now.
  `CREATE TABLE system_connections (
    id uuid PRIMARY KEY,
    system_id uuid NOT NULL REFERENCES smpp_systems (id) ON DELETE CASCADE,
    gateway_id uuid NOT NULL REFERENCES gateways (id) ON DELETE CASCADE,
    address text NOT NULL,
    bind_type text NOT NULL,
    since timestamptz(3) NOT NULL,
    status jsonb NOT NULL
  )`,
  // Payloads of bus messages that a notification has no room for; read once, forgotten within a minute. Lost with a crash.
  `CREATE UNLOGGED TABLE bus_payloads (
    id uuid PRIMARY KEY,
    payload bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
  )`,
];

/** What engineers may hold back: nothing of a queue is begun anywhere while it is paused. */
const QUEUES = [
  `CREATE TABLE queue_switches (
    name text PRIMARY KEY,
    paused_at timestamptz(3)
  )`,
  `INSERT INTO queue_switches (name) VALUES ('webhooks'), ('outbound')`,
  // Attempts before engineers began the schedule of a delivery anew.
  `ALTER TABLE deliveries ADD COLUMN attempts_before smallint NOT NULL DEFAULT 0`,
  `CREATE INDEX deliveries_failed ON deliveries (id) WHERE status = 'failed'`,
  `CREATE INDEX outbound_messages_lost ON outbound_messages (state, id) WHERE state IN ('undelivered', 'failed')`,
  `CREATE INDEX audit_entries_thing ON audit_entries (resource_id, id)`,
];

const MESSAGES = [
  `CREATE INDEX messages_session ON messages (session_id) WHERE session_id IS NOT NULL`,
  `CREATE INDEX messages_fate ON messages (fate, id) WHERE fate <> 'matched'`,
  // Those that matched are found by the sessions of the phone: the many cost nothing more.
  `CREATE INDEX messages_unmatched_source ON messages (source, id) WHERE fate <> 'matched'`,
];

const TABLES = ['queue_switches', 'bus_payloads', 'system_connections', 'bind_connections', 'gateways'];

const INDEXES = [
  'messages_session',
  'messages_fate',
  'messages_unmatched_source',
  'deliveries_failed',
  'outbound_messages_lost',
  'audit_entries_thing',
];

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  binds: [
    'connections',
    'submit_per_second',
    'message_id_base',
    'temporary_statuses',
    'generation',
    'full_trace_until',
  ],
  smpp_systems: ['submit_per_second'],
  deliveries: ['attempts_before'],
};

/** What lets several gateways share the binds, and engineers watch and steer them. */
export class CarrierGrade1700000000003 implements MigrationInterface {
  readonly name = 'CarrierGrade1700000000003';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...BINDS, ...QUEUES, ...MESSAGES]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await runner.query(`DROP INDEX ${index}`);
    for (const table of TABLES) await runner.query(`DROP TABLE ${table}`);
    for (const [table, columns] of Object.entries(COLUMNS)) {
      await runner.query(`ALTER TABLE ${table} ${columns.map((column) => `DROP COLUMN ${column}`).join(', ')}`);
    }
  }
}
