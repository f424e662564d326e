export { grantDaemonRole, warnOfRoleFaults, type DaemonRole, type OwnerQuery } from './daemon-role.js';
export {
  checkSchema,
  ensureSchema,
  migrate,
  migrateFor,
  type Migrated,
  revertMigration,
  SchemaOutdated,
} from './migrate.js';
