import { entropyVersionsInUse } from '@countersign/accounts/keys';
import { Limiter, openLimiter } from '@countersign/bus';
import { prepareStart } from '@countersign/composition';
import type { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
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

/** Checks schema and keys (`prepareStart`), opens the database and the limiter, and creates missing partitions. */
export async function openConnections(
  settings: Readonly<ControlPlaneSettings>,
  logger: Logger,
  failures: FailureLog,
): Promise<Connections> {
  const entropy = { keys: settings.entropyKeys, versionsInUse: entropyVersionsInUse };
  const keys = await prepareStart(settings, { entropy, dependants: KEY_DEPENDANTS, isComplete: true }, logger);
  const onError = failures.about('database: an idle connection or a background read');
  const database = await Database.open({
    url: settings.databaseUrl,
    poolMax: settings.databasePoolMax,
    applicationName: 'countersign-control-plane',
    onError,
  });
  const clock = await DatabaseClock.start(database, onError);
  await ensurePartitions(database, clock.nowMs());
  return { keys, database, clock, limiter: await openLimiter(settings, failures.about('limiter: the shared store')) };
}
