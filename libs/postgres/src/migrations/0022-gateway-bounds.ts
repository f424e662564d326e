import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Octets of a name, an address or a reason: the longest that a gateway writes has 2 KiB. */
const SHORT = 4_096;
/** Octets of a sealed text: the longest message of a PDU (70,000 octets) has 240,000 of UTF-8. */
const TEXT = 262_144;
/** Octets of the status of a connection: less than 1 KiB but for the last error. */
const STATUS = 16_384;
/** The lease of a connection is read as a number, too: Number.MAX_SAFE_INTEGER. */
const LAST_EPOCH = '9007199254740991';
/** Elements of a list of routes. */
const ROUTES = 4_096;

/** Null passes each of these. */
const within = (octets: number, ...columns: readonly string[]): string =>
  columns.map((column) => `octet_length(${column}) <= ${octets}`).join(' AND ');
/** A list to which a statement can append: one dimension, from 1. */
const isList = (column: string): string =>
  `coalesce(array_ndims(${column}), 1) = 1 AND coalesce(array_lower(${column}, 1), 1) = 1`;
const isShortList = (column: string): string => `cardinality(${column}) <= ${ROUTES} AND ${isList(column)}`;

/** By table: what holds for each row of it, beside 0018-gateway-values.ts. */
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  // HMAC-SHA-256.
  smpp_systems: ['octet_length(password_digest) = 32'],
  sender_formats: ['pg_column_size(digests) <= 4096'],
  bind_connections: ['slot BETWEEN 0 AND 31', `epoch BETWEEN 0 AND ${LAST_EPOCH}`],
  gateways: [within(SHORT, 'host', 'version')],
  system_connections: [within(SHORT, 'address', 'bind_type'), within(STATUS, 'status::text')],
  messages: [within(SHORT, 'carrier', 'source', 'destination'), within(TEXT, 'text_sealed')],
  concatenation_parts: [`octet_length(text_sealed) BETWEEN 2 AND ${TEXT}`],
  submissions: [within(SHORT, 'receipt_state', 'network_error')],
  outbound_messages: [
    'attempts >= 0',
    'unknown_fates BETWEEN 0 AND 100',
    isShortList('refused_routes'),
    isShortList('busy_routes'),
    within(SHORT, 'carrier', 'source', 'smsc_message_id', 'network_error'),
    within(TEXT, 'text_sealed'),
    // NaN is greater than every number.
    `cost_usd >= 0 AND cost_usd <> 'NaN'`,
  ],
  cards: ['errand_tries BETWEEN 0 AND 100', within(SHORT, 'refusal')],
  card_events: [within(SHORT, 'kind', 'agent_id', 'phone', 'choice', 'launch_state', 'outcome')],
  card_agents: [within(SHORT, 'launch_state')],
  card_phones: [isList('denials'), isList('recent'), 'array_position(recent, NULL) IS NULL'],
};

/** Sessions whose codes were counted as settled; the role of gateways has no right on it. Rows are deleted after `until`. */
const SETTLED = [
  `CREATE TABLE otp_settled (session_id uuid PRIMARY KEY, until timestamptz(3) NOT NULL)`,
  `CREATE INDEX otp_settled_until ON otp_settled (until)`,
];

/**
 * Values that a process of the role of gateways may write are bounded, so that no row of it stops a statement that reads or
 * changes others together with it. NOT VALID as in 0017-event-times.ts. Day partitions are made with the constraints of
 * their table.
 */
export class GatewayBounds1700000000022 implements MigrationInterface {
  readonly name = 'GatewayBounds1700000000022';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of SETTLED) await runner.query(statement);
    for (const [table, conditions] of Object.entries(BOUNDS)) {
      await runner.query(`
        ALTER TABLE ${table} ADD CONSTRAINT ${table}_bounds_check CHECK (${conditions.join(' AND ')}) NOT VALID`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of Object.keys(BOUNDS)) {
      await runner.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_bounds_check`);
    }
    await runner.query('DROP TABLE otp_settled');
  }
}
