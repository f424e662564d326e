export type Privilege = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';

/** By privilege: true for the whole table, or the columns. A privilege that is not listed is not granted. */
export type TableRights = Readonly<Partial<Record<Privilege, true | readonly string[]>>>;

/** Rights of a role on the tables of one schema. */
export interface SchemaRights {
  readonly named: Readonly<Record<string, TableRights>>;
  /** On all other tables, those of later releases and day partitions included. */
  readonly others: TableRights;
}

/** `daemon`: control planes, and gateways that have no role of their own. */
export type DaemonKind = 'daemon' | 'gateway';

/** The product's own tables, or those of BullMQ. */
export type SchemaContent = 'tables' | 'queues';

const READ: TableRights = { SELECT: true };
const APPEND: TableRights = { SELECT: true, INSERT: true };
const ALL: TableRights = { SELECT: true, INSERT: true, UPDATE: true, DELETE: true };

const DAEMON_TABLES: SchemaRights = {
  named: {
    // A log that could be edited would prove nothing.
    audit_entries: APPEND,
    migrations: READ,
    key_checks: { SELECT: true, INSERT: true, UPDATE: true },
    migration_lock: {},
  },
  others: ALL,
};

/** Jobs hold ids only. */
const QUEUE_TABLES: SchemaRights = { named: { migration: READ, migration_lock: {} }, others: ALL };

/**
 * The columns that the statements of a gateway use. Tables that are not listed are the control plane's alone: a gateway
 * reads no webhook secret, no digest of an API key and no digest of a code, and changes no account, key or webhook URL.
 * On a day partition it has the rights of the table.
 */
const GATEWAY_TABLES: SchemaRights = {
  named: {
    // The URL that an event is sent to is fixed when the event is written; control planes check it before they send.
    accounts: {
      SELECT: ['id', 'webhook_events', 'default_webhook_url', 'default_webhook_disabled_at', 'test_webhook_url'],
    },
    // Which versions of the master key are still needed.
    api_keys: { SELECT: ['digest_version', 'revoked_at'] },
    admin_keys: { SELECT: ['digest_version', 'revoked_at'] },
    // A check value of a version that nobody uses yet would stop the start of every process that lists it later; the mark
    // of a retired version decides what a start without it looks for.
    key_checks: READ,
    migrations: READ,
    prices: READ,
    queue_switches: READ,
    inbound_numbers: READ,
    former_numbers: READ,
    routes: READ,
    binds: READ,
    smpp_systems: { SELECT: true, UPDATE: ['password_digest', 'digest_version'] },
    sender_formats: {
      SELECT: true,
      INSERT: ['link_id'],
      UPDATE: ['learned', 'reading', 'digests', 'digest_version', 'learned_at'],
    },
    sessions: {
      SELECT: [
        'id',
        'account_id',
        'brand_id',
        'phone',
        'country',
        'test',
        'status',
        'channel',
        'token_digest',
        'client_challenge',
        'brand_slug',
        'brand_name',
        'otp_sender',
        'otp_domain',
        'instruction',
        'inbound_number',
        'webhook_url',
        'allow_sms_otp',
        'metadata',
        'entropy_key_version',
        'key_version',
        'created_at',
        'expires_at',
        'ended_at',
        'approved_by',
        'sender_mismatch_at',
      ],
      UPDATE: [
        'status',
        'approved_by',
        'ended_at',
        'ended_xid',
        'otp_digests',
        'channel',
        'rcs_xid',
        'sender_mismatch_at',
      ],
    },
    events: {
      SELECT: ['id'],
      INSERT: ['id', 'type', 'account_id', 'session_id', 'occurred_at', 'data', 'test', 'webhook_url'],
    },
    messages: { SELECT: ['id'], INSERT: true },
    outbound_messages: {
      SELECT: true,
      UPDATE: [
        'state',
        'text_sealed',
        'next_attempt_at',
        'claimed_by',
        'claimed_until',
        'attempts',
        'attempt_log',
        'unknown_fates',
        'refused_routes',
        'busy_routes',
        'route_id',
        'bind_id',
        'system_id',
        'carrier',
        'source',
        'smsc_message_id',
        'submitted_at',
        'submitted_xid',
        'ended_at',
        'network_error',
        'cost_usd',
      ],
    },
    submissions: ALL,
    concatenations: ALL,
    concatenation_parts: ALL,
    cards: {
      SELECT: true,
      UPDATE: [
        'state',
        'refusal',
        'sent_at',
        'delivered_at',
        'read_at',
        'tapped_at',
        'settled_at',
        'settled_as',
        'errand',
        'errand_due_at',
        'errand_tries',
      ],
    },
    card_events: { SELECT: true, INSERT: true, UPDATE: ['outcome', 'handled_at'] },
    card_agents: { SELECT: true, INSERT: true, UPDATE: true },
    card_recipients: { SELECT: true, INSERT: true, UPDATE: true },
    card_phones: { SELECT: true, INSERT: true, UPDATE: true },
    bind_connections: {
      SELECT: true,
      INSERT: ['bind_id', 'slot'],
      UPDATE: ['owner', 'epoch', 'expires_at', 'status', 'events'],
    },
    test_messages: { SELECT: true, UPDATE: ['gateway_id', 'result'] },
    gateways: ALL,
    system_connections: ALL,
    system_refusals: { SELECT: true, INSERT: true, UPDATE: true },
    row_leases: ALL,
    bus_payloads: { SELECT: true, INSERT: true, DELETE: true },
  },
  others: {},
};

export const RIGHTS: Readonly<Record<DaemonKind, Readonly<Record<SchemaContent, SchemaRights>>>> = {
  daemon: { tables: DAEMON_TABLES, queues: QUEUE_TABLES },
  gateway: { tables: GATEWAY_TABLES, queues: QUEUE_TABLES },
};
