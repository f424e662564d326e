export { Batcher, BatcherFull, type BatcherOptions } from './batcher.js';
export { CONNECT_TIMEOUT_MS, connectionSettings } from './connection-settings.js';
export { DatabaseClock } from './database-clock.js';
export { DatabaseUnavailable, DataError, TransactionConflict } from './database-errors.js';
export { Database, type EntityClass, type Executor } from './database.js';
export { readinessOf } from './readiness-checks.js';
export { RecordTable, type Page, type PageRequest, type Records } from './record-table.js';
export { requireRow } from './require-row.js';
export { RowLease } from './row-lease.js';
