import { migrateQueues } from '@countersign/bus';
import { migrate, migrateFor, type Migrated } from '@countersign/postgres/schema';
import { QUEUES } from './queues.js';

export interface DatabaseToPrepare {
  /** URL of the role that owns the tables. */
  readonly ownerUrl: string;
  /** The daemons' role, which must exist; null: the owner's role. */
  readonly daemonRole: string | null;
}

/**
 * Prepares a database for daemons of this release: tables, BullMQ's tables, and privileges of the daemons' role.
 * Idempotent. Several processes may call it concurrently.
 */
export async function prepareDatabase({ ownerUrl, daemonRole }: DatabaseToPrepare): Promise<Migrated> {
  const migrated =
    daemonRole === null
      ? { done: await migrate(ownerUrl), faults: [], isAuditExposed: false }
      : await migrateFor(ownerUrl, daemonRole);
  await migrateQueues({ databaseUrl: ownerUrl, queues: Object.values(QUEUES), daemonRole });
  return migrated;
}

/** As `prepareDatabase`, called by a daemon in development, whose role owns the tables. */
export const prepareByDaemon = (databaseUrl: string): Promise<Migrated> =>
  prepareDatabase({ ownerUrl: databaseUrl, daemonRole: null });
