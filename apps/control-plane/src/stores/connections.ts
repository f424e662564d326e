import { entropyVersionsInUse } from '@countersign/accounts/keys';
import { Limiter, openLimiter, prepareQueues } from '@countersign/bus';
import { prepareByDaemon } from '@countersign/events';
import { checkKeys } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { ensureSchema } from '@countersign/postgres/schema';
import type { ControlPlaneSettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { KEY_DEPENDANTS } from '../key-rotation/key-dependants.js';
import type { FailureLog } from '../operations/failure-log.js';

/** Opened before the modules, so that their faults end the start with an error for the operator. */
export interface Connections {
  readonly keys: ServerKeys;
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly limiter: Limiter;
}

/**
 * Checks the schema (in development an outdated one is migrated) and the server keys, opens the database and the limiter,
 * and creates missing partitions.
 */
export async function openConnections(
  settings: Readonly<ControlPlaneSettings>,
  logger: Logger,
  failures: FailureLog,
): Promise<Connections> {
  const { databaseUrl, production, masterKeys, entropyKeys } = settings;
  await ensureSchema(databaseUrl, production ? null : prepareByDaemon);
  const keys = ServerKeys.fromRing(masterKeys);
  await checkKeys({
    databaseUrl,
    keys,
    entropy: { keys: entropyKeys, versionsInUse: entropyVersionsInUse },
    dependants: KEY_DEPENDANTS,
    isComplete: true,
    log: (facts, message, level) => logger[level](facts, message),
  });
  await prepareQueues(settings);
  const onError = failures.about('database: an idle connection or a background read');
  const database = await Database.open({
    url: databaseUrl,
    poolMax: settings.databasePoolMax,
    applicationName: 'countersign-control-plane',
    onError,
  });
  const clock = await DatabaseClock.start(database, onError);
  await ensurePartitions(database, clock.nowMs());
  return { keys, database, clock, limiter: await openLimiter(settings, failures.about('limiter: the shared store')) };
}
