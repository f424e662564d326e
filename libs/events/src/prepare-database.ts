import { migrateQueues } from '@countersign/bus';
import { migrate, migrateFor, type Migrated } from '@countersign/postgres/schema';
import { QUEUES } from './queues.js';

export interface DatabaseToPrepare {
  /** Of the role that owns the tables. */
  readonly ownerUrl: string;
  /** The daemons' role, which must exist; null: the owner's. */
  readonly daemonRole: string | null;
}

/**
 * Everything that a database needs before daemons of this release start on it: tables, BullMQ's own, and what the
 * daemons' role may do. Run again it changes nothing. Several processes may call it at once.
 */
export async function prepareDatabase({ ownerUrl, daemonRole }: DatabaseToPrepare): Promise<Migrated> {
  const migrated =
    daemonRole === null
      ? { done: await migrate(ownerUrl), faults: [], isAuditExposed: false }
      : await migrateFor(ownerUrl, daemonRole);
  await migrateQueues({ databaseUrl: ownerUrl, queues: Object.values(QUEUES), daemonRole });
  return migrated;
}

/** The same by a daemon in development, whose role owns the tables. */
export const prepareByDaemon = (databaseUrl: string): Promise<Migrated> =>
  prepareDatabase({ ownerUrl: databaseUrl, daemonRole: null });
