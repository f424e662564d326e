import { DataSource } from 'typeorm';
import { CONNECT_TIMEOUT_MS, connectionSettings } from './connection-settings.js';
import { classifyError, DataError } from './database-errors.js';
import { FirstTables1700000000001 } from './migrations/0001-first-tables.js';
import { CodesLimitsUsage1700000000002 } from './migrations/0002-codes-limits-usage.js';
import { CarrierGrade1700000000003 } from './migrations/0003-carrier-grade.js';
import { Cards1700000000004 } from './migrations/0004-cards.js';
import { WebhooksRealtime1700000000005 } from './migrations/0005-webhooks-realtime.js';
import { TestMode1700000000006 } from './migrations/0006-test-mode.js';
import { SenderFormat1700000000007 } from './migrations/0007-sender-format.js';
import { ConversionBudget1700000000008 } from './migrations/0008-conversion-budget.js';
import { AdminKeys1700000000011 } from './migrations/0011-admin-keys.js';
import { KeyRing1700000000012 } from './migrations/0012-key-ring.js';

/** In their order; one that has been released is never edited, only followed by another. */
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
];

/** A migration may rewrite a table, and the processes beside it wait for it. */
const MIGRATION_TIMEOUT_MS = 300_000;

const LOCK_EXISTS = `SELECT to_regclass('migration_lock') IS NOT NULL AS "exists"`;
const CREATE_LOCK = `CREATE TABLE IF NOT EXISTS migration_lock (locked_by_whoever_migrates boolean)`;
/** Held until the end of its transaction, or of its connection: a process that is killed frees it. */
const LOCK = `LOCK TABLE migration_lock IN ACCESS EXCLUSIVE MODE`;

function migrationSource(url: string): DataSource {
  const { connectionString, options } = connectionSettings(url);
  return new DataSource({
    type: 'postgres',
    url: connectionString,
    applicationName: 'countersign-migrate',
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
    synchronize: false,
    logging: false,
    installExtensions: false,
    poolSize: 2,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: () => undefined,
    extra: { options, statement_timeout: MIGRATION_TIMEOUT_MS, query_timeout: MIGRATION_TIMEOUT_MS, keepAlive: true },
  });
}

/** Two processes that create the same table at once can both fail to see it, and one is then told that it exists. */
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

/** TypeORM wraps what the driver said. */
const driverError = (error: unknown): unknown =>
  error instanceof Error && 'driverError' in error ? error.driverError : error;

async function underLock<T>(url: string, work: (source: DataSource) => Promise<T>): Promise<T> {
  const source = migrationSource(url);
  try {
    await source.initialize();
    await createLock(source);
    const holder = source.createQueryRunner();
    try {
      await holder.startTransaction();
      await holder.query(LOCK);
      return await work(source);
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

/**
 * Brings the tables up to date and answers the names of the migrations it ran, oldest first. Does nothing when there
 * is nothing to do. Any number of processes may call it at once: they take turns on a locked table (no advisory lock,
 * which some poolers and clusters lack).
 */
export async function migrate(url: string): Promise<string[]> {
  return underLock(url, async (source) => {
    const done = await source.runMigrations({ transaction: 'each' });
    return done.map((migration) => migration.name);
  });
}

/** Undoes the latest migration, its data included. */
export async function revertMigration(url: string): Promise<void> {
  await underLock(url, (source) => source.undoLastMigration({ transaction: 'each' }));
}
