import { migrateQueues } from '@countersign/bus';
import { migrate, migrateFor, type DaemonRole, type Migrated } from '@countersign/postgres/schema';
import { QUEUES } from './queues.js';

export interface DatabaseToPrepare {
  /** URL of the role that owns the tables. */
  readonly ownerUrl: string;
  /** The daemons' role, which must exist; null: the owner's role. */
  readonly daemonRole: string | null;
  /** A role for gateways alone, which must exist. Null or not given: gateways use the daemons' role. */
  readonly gatewayRole?: string | null;
}

/**
 * Everything that a database needs before daemons of this release start on it: tables, BullMQ's own, and what the
 * roles of the daemons may do. Run again it changes nothing. Several processes may call it at once.
 */
export async function prepareDatabase({
  ownerUrl,
  daemonRole,
  gatewayRole = null,
}: DatabaseToPrepare): Promise<Migrated> {
  const roles: DaemonRole[] = [
    ...(daemonRole === null ? [] : [{ name: daemonRole, kind: 'daemon' } as const]),
    ...(gatewayRole === null ? [] : [{ name: gatewayRole, kind: 'gateway' } as const]),
  ];
  const migrated =
    roles.length === 0 ? { done: await migrate(ownerUrl), faults: [] } : await migrateFor(ownerUrl, roles);
  await migrateQueues({ databaseUrl: ownerUrl, queues: Object.values(QUEUES), roles });
  return migrated;
}

/** As `prepareDatabase`, called by a daemon in development, whose role owns the tables. */
export const prepareByDaemon = (databaseUrl: string): Promise<Migrated> =>
  prepareDatabase({ ownerUrl: databaseUrl, daemonRole: null });
