export { Batcher, BatcherFull, type BatcherOptions, type BatchLimits } from './batcher.js';
export { CONNECT_TIMEOUT_MS, connectionSettings } from './connection-settings.js';
export { DatabaseClock } from './database-clock.js';
export {
  DatabaseUnavailable,
  DataError,
  isCausedByRows,
  LockTimeout,
  MissingPartition,
  TransactionConflict,
} from './database-errors.js';
export { Database, type Executor } from './database.js';
export { columnsOf, CreatedAtColumn, recordsetOf, TimeColumn } from './entity-columns.js';
export { entityManager, entitySource } from './entity-source.js';
export { CLOCK_MS, CURRENT_XID, EntityTable } from './entity-table.js';
export { prepared } from './prepared-statements.js';
export { readinessOf } from './readiness-checks.js';
export { RecordTable, type Page, type PageRequest, type Records } from './record-table.js';
export { requireRow } from './require-row.js';
export { RowLease } from './row-lease.js';
