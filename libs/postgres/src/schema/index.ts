export { grantDaemonRole, warnOfRoleFaults, type DaemonRole, type OwnerQuery } from './daemon-role.js';
export type { DaemonKind } from './role-rights.js';
export {
  checkSchema,
  ensureSchema,
  migrate,
  migrateFor,
  type Migrated,
  revertMigration,
  SchemaOutdated,
} from './migrate.js';
export { usesPooler } from '../pooler.js';
