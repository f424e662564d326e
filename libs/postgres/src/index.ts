export { Timers } from './timers.js';
export { Batcher, BatcherFull, type BatcherOptions } from './batcher.js';
export { CONNECT_TIMEOUT_MS, connectionSettings, type ConnectionSettings } from './connection-settings.js';
export { grantDaemonRole, type OwnerQuery } from './daemon-role.js';
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
  revertMigration,
  SchemaOutdated,
} from './migrate.js';
export {
  dropOldPartitions,
  ensurePartitions,
  PartitionMaintainer,
  type PartitionMaintainerOptions,
} from './partitions.js';
export { PollLoop, type PollLoopOptions } from './poll-loop.js';
export { readinessOf } from './readiness-checks.js';
export { RecordTable, type Page, type PageRequest, type Records, type RecordTableOptions } from './record-table.js';
export { ROW_CACHE_MAX_AGE_MS, RowCache, type RowCacheOptions } from './row-cache.js';
export { RowLease } from './row-lease.js';
export { written } from './require-row.js';
