import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Times that the role of gateways writes, beside those of 0017-event-times.ts. */
const TIMES: Readonly<Record<string, readonly string[]>> = {
  sessions: ['ended_at', 'sender_mismatch_at'],
  outbound_messages: ['next_attempt_at', 'claimed_until', 'submitted_at', 'ended_at'],
  cards: ['sent_at', 'delivered_at', 'read_at', 'tapped_at', 'settled_at', 'errand_due_at'],
  card_events: ['occurred_at', 'handled_at'],
  card_phones: ['changed_at'],
  card_recipients: ['unreachable_at', 'prefers_sms_at'],
  card_agents: ['changed_at'],
  bind_connections: ['expires_at'],
  gateways: ['started_at', 'seen_at'],
  system_connections: ['since'],
  sender_formats: ['learned_at'],
  key_checks: ['retired_at'],
};

/** Wide enough for any year of four digits in any time zone: some of these times are those of the RCS platform. */
const FIRST = `timestamptz '0002-01-01 00:00:00+00 BC'`;
const END = `timestamptz '10001-01-01 00:00:00+00'`;

/** Null passes. */
const isTime = (column: string): string => `${column} >= ${FIRST} AND ${column} < ${END}`;

/** By table: a name, and what holds for each row of it. Sizes are of the value in memory. */
const VALUES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Three codes (MAX_CODES) of 32 octets.
  sessions: { otp_digests: 'cardinality(otp_digests) <= 3 AND pg_column_size(otp_digests) <= 1024' },
  // Less than 1 KiB but for the words of the carrier in the last error.
  bind_connections: { status: 'octet_length(status::text) <= 65536' },
  // The largest message of the bus has 4 MiB.
  bus_payloads: { payload: 'octet_length(payload) <= 4259840' },
  card_phones: {
    denials: `pg_column_size(denials) <= 8192 AND (${FIRST} <= ALL (denials) AND ${END} > ALL (denials)) IS TRUE`,
    recent: 'pg_column_size(recent) <= 8192',
  },
};

/** By table: the constraints, each a name and a condition. */
function constraints(): [table: string, added: [name: string, condition: string][]][] {
  return [...new Set([...Object.keys(TIMES), ...Object.keys(VALUES)])].map((table) => {
    const times = TIMES[table]?.map(isTime);
    const values = Object.entries(VALUES[table] ?? {});
    const added = values.map(([name, condition]): [string, string] => [`${table}_${name}_bound`, condition]);
    return [table, times === undefined ? added : [[`${table}_times_check`, times.join(' AND ')], ...added]];
  });
}

/**
 * Values that a process of the role of gateways may write and others read are bounded: a Date can hold each time, and no
 * value is so large that its reader stops. NOT VALID as in 0017-event-times.ts: no row that is there is read, and none
 * stops the migration. Day partitions are made with the constraints of their table.
 */
export class GatewayValues1700000000018 implements MigrationInterface {
  readonly name = 'GatewayValues1700000000018';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, added] of constraints()) {
      const clauses = added.map(([name, condition]) => `ADD CONSTRAINT ${name} CHECK (${condition}) NOT VALID`);
      await runner.query(`ALTER TABLE ${table} ${clauses.join(', ')}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, added] of constraints()) {
      await runner.query(`ALTER TABLE ${table} ${added.map(([name]) => `DROP CONSTRAINT ${name}`).join(', ')}`);
    }
  }
}
