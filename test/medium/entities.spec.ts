import { AccountEntity, ApiKeyEntity, BrandEntity } from '@countersign/accounts/accounts';
import { AdminKeyEntity } from '@countersign/accounts/admin-keys';
import { MemberEntity } from '@countersign/accounts/members';
import { BindEntity, CarrierStore, InboundNumberEntity, SmppSystemEntity } from '@countersign/carriers/config';
import { DestinationRuleEntity } from '@countersign/carriers/destinations';
import { MessageEntity } from '@countersign/carriers/inbound';
import { RouteEntity } from '@countersign/carriers/routes';
import { SessionEntity } from '@countersign/session';
import { entityManager, entitySource } from '@countersign/postgres';
import type { DataSource, EntityMetadata } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const ENTITIES = [
  AccountEntity,
  AdminKeyEntity,
  ApiKeyEntity,
  BindEntity,
  BrandEntity,
  DestinationRuleEntity,
  InboundNumberEntity,
  MemberEntity,
  MessageEntity,
  RouteEntity,
  SessionEntity,
  SmppSystemEntity,
];

/** Tables that no entity describes, because nobody reads a row of them as a whole, and what is read of them instead. */
const WITHOUT_ENTITY: Readonly<Record<string, string>> = {
  account_requests: 'a log, appended to in sets',
  audit_entries: 'appended to',
  bind_connections: 'leases, claimed and renewed in sets',
  bus_payloads: 'read once',
  card_agents: 'what the platform last said, in guarded upserts',
  card_events: 'what the platform told, stored and taken in sets',
  card_phones: 'counted and locked in sets',
  card_recipients: 'what one agent knows of one phone, in upserts',
  cards: 'offered, sent and settled in sets, each state with columns of its own',
  concatenation_parts: 'parts of one message, read as a set',
  concatenations: 'a lock with a time',
  console_sessions: 'found by their digests, with the roles of their holders',
  console_sign_ins: 'begun and taken by one statement each',
  deliveries: 'claimed and recorded in sets',
  events: 'the outbox, written and taken in sets',
  former_numbers: 'a set of texts, written beside inbound_numbers',
  former_webhook_urls: 'a set of digests with times, written by a trigger',
  gateways: 'heartbeats',
  idempotency_keys: 'claimed and answered by one statement each',
  key_checks: 'recorded once and compared at boot',
  otp_approvals: 'summed in upserts',
  otp_checks: 'summed in upserts',
  otp_counters: 'counted in guarded upserts',
  otp_phones: 'digests with two days, in guarded upserts',
  otp_refusals: 'tallied in upserts',
  otp_session_refusals: 'tallied in upserts',
  otp_sends: 'summed in upserts',
  otp_settled: 'inserted once each',
  otp_spend: 'summed in guarded upserts',
  outbound_messages: 'claimed and recorded in sets, each state with columns of its own',
  overview_days: 'added up',
  overview_hours: 'added up',
  price_spans: 'looked up by the moment at which they held',
  prices: 'looked up by the moment at which they hold',
  queue_switches: 'one switch a queue',
  rate_limits: "the limiter's library owns its columns",
  realtime_tickets: 'issued and used by one guarded statement each',
  retention_clock: 'one row, moved by one statement',
  row_leases: 'taken by one guarded upsert',
  sender_formats: 'what senders of a link showed, in guarded writes',
  submissions: 'where responses and receipts meet, in sets',
  system_connections: 'what gateways see, in sets',
  system_refusals: 'counted in upserts',
  test_messages: 'handed to a gateway and answered by one guarded statement each',
  usage_days: 'added up',
  usage_folds: 'which hours are folded',
  usage_hours: 'added up',
  usage_minutes: 'added up',
  usage_progress: 'one row, locked by whoever folds',
};
/** Tables of the migrations themselves. */
const OF_MIGRATIONS = ['migration_lock', 'migrations'];

let harness: SessionHarness;
let source: DataSource;

beforeAll(async () => {
  [harness, source] = await Promise.all([openSessionHarness(), entitySource()]);
});
afterAll(() => harness.close());

interface ColumnShape {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly primary: boolean;
  readonly unique: boolean;
}

const migrated = (table: string): Promise<ColumnShape[]> =>
  harness.database.query<ColumnShape>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable,
       atthasdef AS "hasDefault", constrained.kinds @> '{p}' AS primary, constrained.kinds @> '{u}' AS unique
     FROM pg_attribute
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(contype::text), '{}') AS kinds FROM pg_constraint
       WHERE conrelid = attrelid AND conkey = ARRAY[attnum] AND contype IN ('p', 'u')) AS constrained
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname`,
    [table],
  );

function described(entity: EntityMetadata): ColumnShape[] {
  const { driver } = source;
  const unique = new Set(entity.uniques.filter(({ columns }) => columns.length === 1).map(({ columns }) => columns[0]));
  return entity.columns
    .filter((column) => !column.isVirtualProperty)
    .map((column) => {
      const bare = driver.normalizeType(column);
      const { precision, scale } = column;
      const precise =
        precision == null
          ? bare
          : bare.replace(/^(timestamp|numeric)/, `$1(${[precision, scale ?? []].flat().join(',')})`);
      return {
        name: column.databaseName,
        type: column.isArray ? `${precise}[]` : precise,
        nullable: column.isNullable,
        hasDefault: column.default !== undefined,
        primary: column.isPrimary,
        unique: unique.has(column),
      };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

describe('the entities', () => {
  it.each(ENTITIES.map((entity) => [entity.name, entity] as const))(
    '%s describes its migrated table, column for column',
    async (_, entity) => {
      const metadata = source.getMetadata(entity);
      expect(described(metadata)).toEqual(await migrated(metadata.tableName));
    },
  );

  it('leave out no table but those of which no row is read as a whole', async () => {
    const rows = await harness.database.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    );
    const described = ENTITIES.map((entity) => source.getMetadata(entity).tableName);
    const known = [...described, ...Object.keys(WITHOUT_ENTITY), ...OF_MIGRATIONS];
    expect(rows.map(({ name }) => name)).toEqual(known.sort());
  });

  it('read what the stores have written', async () => {
    const { database, account, brand, sessions } = harness;
    const repository = await entityManager(database);
    const session = await sessions.create(harness.draft({ metadata: [['order', '42']] }));
    const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const bind = await carriers.createBind(database, {
      name: 'b',
      carrier: 'c',
      hosts: [{ host: 'h', port: 1 }],
      systemId: 's',
      password: 'p',
    });
    const { createdAt, expiresAt, phone, clientChallenge } = session;
    expect(await repository.findOneByOrFail(SessionEntity, { id: session.id })).toMatchObject({
      ...{ createdAt, expiresAt, phone, clientChallenge },
      status: 'pending',
      metadata: { order: '42' },
      endedAt: null,
      approvedBy: null,
    });
    expect(await repository.findOneByOrFail(AccountEntity, { id: account.id })).toMatchObject(account);
    expect(await repository.findOneByOrFail(BrandEntity, { id: brand.id })).toMatchObject(brand);
    expect(await repository.findOneByOrFail(BindEntity, { id: bind.id })).toMatchObject(bind);
  });

  it('do not read secrets unless they are asked for', async () => {
    const account = await (
      await entityManager(harness.database)
    ).findOneByOrFail(AccountEntity, {
      id: harness.account.id,
    });
    expect(Object.keys(account)).not.toContain('webhookSecretSealed');
  });
});
