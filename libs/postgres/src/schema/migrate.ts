import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { CONNECT_TIMEOUT_MS, connectionSettings, NO_OPTIONS, QUERY_TIMEOUT_MS } from '../connection-settings.js';
import {
  faultsOfDaemonRole,
  grantDaemonRole,
  grantPartitions,
  type DaemonRole,
  type GrantedSchema,
  type OwnerQuery,
  type RoleFault,
} from './daemon-role.js';
import { classifyError, DataError } from '../database-errors.js';
import { usesPooler } from '../pooler.js';
import { FirstTables1700000000001 } from '../migrations/0001-first-tables.js';
import { CodesLimitsUsage1700000000002 } from '../migrations/0002-codes-limits-usage.js';
import { CarrierGrade1700000000003 } from '../migrations/0003-carrier-grade.js';
import { Cards1700000000004 } from '../migrations/0004-cards.js';
import { WebhooksRealtime1700000000005 } from '../migrations/0005-webhooks-realtime.js';
import { TestMode1700000000006 } from '../migrations/0006-test-mode.js';
import { SenderFormat1700000000007 } from '../migrations/0007-sender-format.js';
import { ConversionBudget1700000000008 } from '../migrations/0008-conversion-budget.js';
import { AdminKeys1700000000011 } from '../migrations/0011-admin-keys.js';
import { KeyRing1700000000012 } from '../migrations/0012-key-ring.js';
import { DatabaseRoles1700000000013 } from '../migrations/0013-database-roles.js';
import { IdempotencyQuota1700000000014 } from '../migrations/0014-idempotency-quota.js';
import { AuditTimes1700000000015 } from '../migrations/0015-audit-times.js';
import { PartitionDays1700000000016 } from '../migrations/0016-partition-days.js';
import { EventTimes1700000000017 } from '../migrations/0017-event-times.js';
import { GatewayValues1700000000018 } from '../migrations/0018-gateway-values.js';
import { FormerNumbers1700000000019 } from '../migrations/0019-former-numbers.js';
import { UnclaimedDeliveries1700000000020 } from '../migrations/0020-unclaimed-deliveries.js';
import { SystemSettings1700000000021 } from '../migrations/0021-system-settings.js';
import { GatewayBounds1700000000022 } from '../migrations/0022-gateway-bounds.js';
import { RoutesToSystems1700000000024 } from '../migrations/0024-routes-to-systems.js';
import { SubmitOptions1700000000025 } from '../migrations/0025-submit-options.js';
import { Outbind1700000000026 } from '../migrations/0026-outbind.js';
import { AttemptsAndRefusals1700000000028 } from '../migrations/0028-attempts-and-refusals.js';
import { GatewayOrders1700000000032 } from '../migrations/0032-gateway-orders.js';
import { DispatchedEvents1700000000033 } from '../migrations/0033-dispatched-events.js';
import { Members1700000000034 } from '../migrations/0034-members.js';
import { UsageMinutes1700000000035 } from '../migrations/0035-usage-minutes.js';
import { BrandRequests1700000000036 } from '../migrations/0036-brand-requests.js';
import { DispatchTransactions1700000000037 } from '../migrations/0037-dispatch-transactions.js';
import { OverviewHours1700000000038 } from '../migrations/0038-overview-hours.js';
import { AccountRequests1700000000039 } from '../migrations/0039-account-requests.js';
import { ConsoleSignIns1700000000041 } from '../migrations/0041-console-sign-ins.js';
import { OverviewDays1700000000042 } from '../migrations/0042-overview-days.js';
import { UsageDays1700000000050 } from '../migrations/0050-usage-days.js';
import { SecondSteps1700000000055 } from '../migrations/0055-second-steps.js';
import { RetentionClock1700000000063 } from '../migrations/0063-retention-clock.js';
import { ConfirmedConsoleSessions1700000000070 } from '../migrations/0070-confirmed-console-sessions.js';
import { SharedQuotas1700000000075 } from '../migrations/0075-shared-quotas.js';
import { ConnectionEvents1700000000076 } from '../migrations/0076-connection-events.js';
import { TestMessages1700000000077 } from '../migrations/0077-test-messages.js';
import { AttemptsOfSubmissions1700000000078 } from '../migrations/0078-attempts-of-submissions.js';
import { FormerWebhookUrls1700000000079 } from '../migrations/0079-former-webhook-urls.js';
import { PartitionRights1700000000080 } from '../migrations/0080-partition-rights.js';
import { EventsWithoutSnapshots1700000000081 } from '../migrations/0081-events-without-snapshots.js';
import { BETWEEN_TRIES_MS, isLockTimeout, LOCK_TRY_MS, TRIES } from '../migrations/under-short-lock.js';

/** In order; a released migration is never edited, only followed by another. */
const MIGRATIONS = [
  FirstTables1700000000001,
  CodesLimitsUsage1700000000002,
  CarrierGrade1700000000003,
  Cards1700000000004,
  WebhooksRealtime1700000000005,
  TestMode1700000000006,
  SenderFormat1700000000007,
  ConversionBudget1700000000008,
  AdminKeys1700000000011,
  KeyRing1700000000012,
  DatabaseRoles1700000000013,
  IdempotencyQuota1700000000014,
  AuditTimes1700000000015,
  PartitionDays1700000000016,
  EventTimes1700000000017,
  GatewayValues1700000000018,
  FormerNumbers1700000000019,
  UnclaimedDeliveries1700000000020,
  SystemSettings1700000000021,
  GatewayBounds1700000000022,
  RoutesToSystems1700000000024,
  SubmitOptions1700000000025,
  Outbind1700000000026,
  AttemptsAndRefusals1700000000028,
  GatewayOrders1700000000032,
  DispatchedEvents1700000000033,
  Members1700000000034,
  UsageMinutes1700000000035,
  BrandRequests1700000000036,
  DispatchTransactions1700000000037,
  OverviewHours1700000000038,
  AccountRequests1700000000039,
  ConsoleSignIns1700000000041,
  OverviewDays1700000000042,
  UsageDays1700000000050,
  SecondSteps1700000000055,
  RetentionClock1700000000063,
  ConfirmedConsoleSessions1700000000070,
  SharedQuotas1700000000075,
  ConnectionEvents1700000000076,
  TestMessages1700000000077,
  AttemptsOfSubmissions1700000000078,
  FormerWebhookUrls1700000000079,
  PartitionRights1700000000080,
  EventsWithoutSnapshots1700000000081,
];

/** A migration may rewrite a table, and other processes wait for it. */
const MIGRATION_TIMEOUT_MS = 300_000;

const LOCK_EXISTS = `SELECT to_regclass('migration_lock') IS NOT NULL AS "exists"`;
const CREATE_LOCK = `CREATE TABLE IF NOT EXISTS migration_lock (locked_by_whoever_migrates boolean)`;
/**
 * Held until the end of its transaction, or of its connection: a killed process releases it. It conflicts with itself and not with
 * readers, so that a dump of the database, which reads every table, is not waited for.
 */
const LOCK = `LOCK TABLE migration_lock IN SHARE UPDATE EXCLUSIVE MODE`;
/** Other processes that migrate are waited for without short tries. */
const WAIT_FOR_OTHERS = `SET LOCAL lock_timeout = 0`;

const MIGRATIONS_TABLE = 'migrations';
const HAS_MIGRATIONS = `SELECT to_regclass('${MIGRATIONS_TABLE}') IS NOT NULL AS "exists"`;
const READ_MIGRATIONS = `SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`;

function migrationSource(url: string): DataSource {
  const { connectionString, ...session } = connectionSettings(url);
  return new DataSource({
    type: 'postgres',
    url: connectionString,
    applicationName: 'countersign-migrate',
    migrations: MIGRATIONS,
    migrationsTableName: MIGRATIONS_TABLE,
    synchronize: false,
    logging: false,
    installExtensions: false,
    poolSize: 2,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: () => undefined,
    extra: {
      ...session,
      statement_timeout: MIGRATION_TIMEOUT_MS,
      lock_timeout: LOCK_TRY_MS,
      query_timeout: MIGRATION_TIMEOUT_MS,
      keepAlive: true,
    },
  });
}

const THROUGH_POOLER =
  'the address for migrations leads through a connection pooler, which keeps no settings of a session: ' +
  'set DATABASE_MIGRATION_URL to the address of PostgreSQL itself (DATABASE_URL may stay that of the pooler)';

/** When two processes create the same table concurrently, one of them gets one of these errors. */
const ALREADY_THERE = new Set(['23505', '42P07', '42710']);

async function createLock(source: DataSource): Promise<void> {
  const [found] = await source.query<{ exists: boolean }[]>(LOCK_EXISTS);
  if (found?.exists === true) return;
  try {
    await source.query(CREATE_LOCK);
  } catch (error) {
    const reason = classifyError(driverError(error));
    if (!(reason instanceof DataError && ALREADY_THERE.has(reason.sqlState))) throw reason;
  }
}

/** TypeORM wraps the driver's error. */
const driverError = (error: unknown): unknown =>
  error instanceof Error && 'driverError' in error ? error.driverError : error;

/**
 * `holder` is the connection with the lock, in a transaction that is committed after the work. Statements on
 * migration_lock itself must run there: on any other connection they would wait for the holder forever.
 */
async function underLock<T>(url: string, work: (source: DataSource, holder: QueryRunner) => Promise<T>): Promise<T> {
  if (await usesPooler(url)) throw new Error(THROUGH_POOLER);
  const source = migrationSource(url);
  try {
    await source.initialize();
    await createLock(source);
    const holder = source.createQueryRunner();
    try {
      await holder.startTransaction();
      await holder.query(WAIT_FOR_OTHERS);
      await holder.query(LOCK);
      const result = await work(source, holder);
      await holder.commitTransaction();
      return result;
    } finally {
      if (holder.isTransactionActive) await holder.rollbackTransaction();
      await holder.release();
    }
  } catch (error) {
    throw classifyError(driverError(error));
  } finally {
    if (source.isInitialized) await source.destroy();
  }
}

export interface Migrated {
  /** Names of the migrations that were run, oldest first. */
  readonly done: readonly string[];
  /** Where a role may do more than it should. */
  readonly faults: readonly NamedRoleFault[];
}

/** A fault and the name of the role that has it. */
interface NamedRoleFault extends RoleFault {
  readonly role: string;
}

/**
 * Runs pending migrations and returns their names, oldest first. Does nothing when there are none. Any number of
 * processes may call it concurrently: they serialize on a locked table (no advisory lock, which some poolers and
 * clusters lack).
 *
 * @param url of the role that owns the tables
 */
export async function migrate(url: string): Promise<string[]> {
  return underLock(url, runMigrations);
}

/** As `migrate`; then the roles of the daemons, which must exist, are given what they need and nothing else. */
export async function migrateFor(url: string, roles: readonly DaemonRole[]): Promise<Migrated> {
  return underLock(url, async (source, holder) => {
    const done = await runMigrations(source);
    const query: OwnerQuery = <Row>(text: string, values?: unknown[]) => holder.query(text, values) as Promise<Row[]>;
    const [row] = await query<{ schema: string }>('SELECT current_schema()::text AS schema');
    const schema: GrantedSchema = { name: row?.schema ?? 'public', content: 'tables' };
    const faults: NamedRoleFault[] = [];
    for (const role of roles) {
      await grantDaemonRole(query, role, schema);
      await grantPartitions(query, role);
      const found = await faultsOfDaemonRole(query, role, schema);
      faults.push(...found.map((fault) => ({ role: role.name, ...fault })));
    }
    return { done, faults };
  });
}

async function runMigrations(source: DataSource): Promise<string[]> {
  const before = new Set(await migrationsOf(source));
  await inShortTries(() => source.runMigrations({ transaction: 'each' }));
  return (await migrationsOf(source)).filter((name) => !before.has(name));
}

/** Names of the migrations that were run, oldest first. */
async function migrationsOf(source: DataSource): Promise<string[]> {
  const [found] = await source.query<{ exists: boolean }[]>(HAS_MIGRATIONS);
  if (found?.exists !== true) return [];
  return (await source.query<{ name: string }[]>(READ_MIGRATIONS)).map(({ name }) => name);
}

/**
 * A statement that waits for an open transaction holds up all others behind it, so each gives up its lock early; a migration
 * whose statement did is rolled back and run again, with a pause in which the others continue.
 */
async function inShortTries(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work();
      return;
    } catch (error) {
      if (tries === TRIES || !isLockTimeout(error)) throw error;
      await delay(BETWEEN_TRIES_MS);
    }
  }
}

/** Reverts the latest migration, including its data. */
export async function revertMigration(url: string): Promise<void> {
  await underLock(url, (source) => inShortTries(() => source.undoLastMigration({ transaction: 'each' })));
}

/** The database was not migrated to this release. The message names the command for the operator. */
export class SchemaOutdated extends Error {
  override readonly name = 'SchemaOutdated';

  constructor(what: string) {
    super(
      `${what}: run "npm run migrate" with DATABASE_MIGRATION_URL (the role that owns the tables), then start again`,
    );
  }
}

/** PostgreSQL, appendix A. */
const INSUFFICIENT_PRIVILEGE = '42501';

/** undefined_table, insufficient_privilege (PostgreSQL, appendix A), and their meaning for the migrations table. */
const UNMIGRATED: Readonly<Record<string, string>> = {
  '42P01': 'the database has no tables',
  [INSUFFICIENT_PRIVILEGE]: 'the role of DATABASE_URL was not given its rights in the database',
};

/**
 * As `checkSchema`, but `prepare` migrates an outdated database if the role of the URL may do that. For development;
 * null in production, where migrating is a separate step.
 */
export async function ensureSchema(url: string, prepare: ((url: string) => Promise<unknown>) | null): Promise<void> {
  try {
    await checkSchema(url);
  } catch (outdated) {
    if (prepare === null || !(outdated instanceof SchemaOutdated)) throw outdated;
    await prepare(url).catch((error: unknown) => {
      throw error instanceof DataError && error.sqlState === INSUFFICIENT_PRIVILEGE ? outdated : error;
    });
  }
}

/**
 * Checks that every migration of this release was run, and changes nothing. Throws SchemaOutdated otherwise. A
 * database migrated by a newer release is accepted: neighbouring releases run together.
 */
export async function checkSchema(url: string): Promise<void> {
  const client = new pg.Client({
    ...connectionSettings(url, NO_OPTIONS),
    application_name: 'countersign-schema-check',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations');
    const run = new Set(rows.map(({ name }) => name));
    const missing = MIGRATIONS.map((migration) => migration.name).filter((name) => !run.has(name));
    if (missing.length > 0) throw new SchemaOutdated(`the database lacks ${missing.join(', ')}`);
  } catch (error) {
    const unmigrated = error instanceof pg.DatabaseError ? UNMIGRATED[error.code ?? ''] : undefined;
    throw unmigrated === undefined ? classifyError(error) : new SchemaOutdated(unmigrated);
  } finally {
    await client.end().catch(() => undefined);
  }
}
