export { Alarms } from './alarms.js';
export { Batcher, BatcherFull, type BatcherOptions } from './batcher.js';
export { CONNECT_TIMEOUT_MS, connectionSettings, type ConnectionSettings } from './connection-settings.js';
export { grantDaemonRole, warnOfRoleFaults, type DaemonRole, type OwnerQuery } from './daemon-role.js';
export { DatabaseClock } from './database-clock.js';
export { DatabaseUnavailable, DataError, TransactionConflict } from './database-errors.js';
export { Database, type DatabaseOptions, type EntityClass, type Executor } from './database.js';
export { firstIdAt, ID_CLOCK_SLACK_MS, idBounds, idOf, idTimeMs, newId, parseId, renderId, type Uuid } from './id.js';
export {
  checkSchema,
  ensureSchema,
  migrate,
  migrateFor,
  type Migrated,
  type NamedRoleFault,
  revertMigration,
  SchemaOutdated,
} from './migrate.js';
export { dropOldPartitions, ensurePartitions, PartitionKeeper, type PartitionKeeperOptions } from './partitions.js';
export { Periodic, type PeriodicOptions } from './periodic.js';
export { readinessOf } from './readiness-checks.js';
export { RecordTable, type Page, type PageRequest, type Records, type RecordTableOptions } from './record-table.js';
export { ROW_CACHE_MAX_AGE_MS, RowCache, type RowCacheOptions } from './row-cache.js';
export { RowLease } from './row-lease.js';
export { written } from './written.js';
