import { prepareQueues, type QueueStoreOptions } from '@countersign/bus';
import { prepareByDaemon } from '@countersign/events';
import { checkKeys, type KeyCheckOptions } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { ensureSchema } from '@countersign/postgres/schema';
import type { Logger } from '@countersign/telemetry';

export interface StartSettings extends QueueStoreOptions {
  readonly production: boolean;
  readonly masterKeys: ReadonlyMap<number, Uint8Array>;
}

type KeyUsers = Pick<KeyCheckOptions, 'entropy' | 'dependants' | 'isComplete'>;

/**
 * Checks the schema (in development an outdated one is migrated), the server keys and the tables of the queues, before a daemon
 * creates its modules: a fault ends the start with an error for the operator. Returns the keys.
 */
export async function prepareStart(settings: StartSettings, users: KeyUsers, logger: Logger): Promise<ServerKeys> {
  const { databaseUrl, production, masterKeys } = settings;
  await ensureSchema(databaseUrl, production ? null : prepareByDaemon);
  const keys = ServerKeys.fromRing(masterKeys);
  await checkKeys({ databaseUrl, keys, ...users, log: (facts, message, level) => logger[level](facts, message) });
  await prepareQueues(settings);
  return keys;
}
