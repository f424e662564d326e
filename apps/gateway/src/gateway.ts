import { Logger as NestLogger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ACCOUNT_KEY_DEPENDANTS } from '@countersign/accounts/keys';
import { JobNotifier, prepareQueues, PubSub } from '@countersign/bus';
import { CARRIER_KEY_DEPENDANTS } from '@countersign/carriers/credentials';
import { prepareByDaemon } from '@countersign/events';
import { checkKeys, joinDependants } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensureSchema, warnOfRoleFaults } from '@countersign/postgres/schema';
import { SESSION_KEY_DEPENDANTS } from '@countersign/session';
import type { GatewaySettings } from '@countersign/settings';
import { NestPinoLogger, OpsServer, Shutdown, type Logger } from '@countersign/telemetry';
import { BindsService } from './binds/binds.service.js';
import { GatewayModule } from './gateway.module.js';
import { Maintenance } from './maintenance.js';
import { InboundService } from './inbound/inbound.service.js';
import { SenderLearner } from './inbound/sender-learner.js';
import { LeaseRenewer } from './leases/lease-renewer.js';
import { ListenerService } from './listener/listener.service.js';
import { MtDispatcher } from './outbound/mt.dispatcher.js';
import { ReceiptsService } from './receipts/receipts.service.js';
import { RcsService } from './rcs/rcs.service.js';
import { loadServiceAccount } from './rcs/rbm/service-account.js';

/** Time limit for answering received messages and unbinding. */
const DRAIN_MS = 10_000;
/** Time limit of a step that waits for no peer. */
const STEP_MS = 3_000;
/** Added to the drain limit, so that sockets can still close after it. */
const SLACK_MS = 3_000;

/** Columns and rows of the gateway's tables that depend on the master key. The control plane has further ones. */
const KEY_DEPENDANTS = joinDependants(ACCOUNT_KEY_DEPENDANTS, CARRIER_KEY_DEPENDANTS, SESSION_KEY_DEPENDANTS);

/**
 * Starts a gateway: checks tables and keys, opens stores, creates partitions, then opens ports and binds. The returned
 * shutdown does not listen to signals yet. `exit` replaces the end of the process.
 */
export async function startGateway(
  settings: Readonly<GatewaySettings>,
  logger: Logger,
  exit?: (code: number) => void,
): Promise<Shutdown> {
  // Read first: an invalid file ends the start before the database is changed.
  if (settings.rbm !== null) loadServiceAccount(settings.rbm.serviceAccountFile);
  await ensureSchema(settings.databaseUrl, settings.production ? null : prepareByDaemon);
  await checkKeys({
    databaseUrl: settings.databaseUrl,
    keys: ServerKeys.fromRing(settings.masterKeys),
    entropy: null,
    dependants: KEY_DEPENDANTS,
    isComplete: false,
    log: (facts, message) => logger.info(facts, message),
  });
  await prepareQueues(settings);
  NestLogger.overrideLogger(new NestPinoLogger(logger));
  const app = await NestFactory.createApplicationContext(GatewayModule.register(settings, logger));
  if (settings.production) await warnOfRoleFaults(app.get(Database), 'gateway', (message) => logger.warn(message));
  await app.get(Maintenance).start();
  await app.get(LeaseRenewer).start();
  await app.get(ListenerService).listen();
  await app.get(RcsService).listen();
  await app.get(OpsServer).listen();
  app.get(BindsService).start();
  app.get(MtDispatcher).start();
  app.get(RcsService).start();
  return addShutdownSteps(app, new Shutdown(exit === undefined ? { logger } : { logger, exit }));
}

/**
 * The order matters. Claiming of codes and RCS cards stops first. Then received MOs are answered, windows are finished and
 * links are unbound while the database is open and the leases are held, so that answers and outcomes are recorded. The
 * lease of each bind connection is released as soon as the connection has ended, so that another gateway can claim it.
 */
function addShutdownSteps(app: INestApplicationContext, shutdown: Shutdown): Shutdown {
  const [listener, binds, outbound] = [app.get(ListenerService), app.get(BindsService), app.get(MtDispatcher)];
  const rcs = app.get(RcsService);
  return shutdown
    .step('stop accepting', STEP_MS, () => {
      app.get(OpsServer).drain();
      listener.stopAccepting();
    })
    .step('stop sending', STEP_MS, async () => {
      await Promise.all([outbound.stopClaiming(), rcs.stopSending()]);
    })
    .step('stop reconnecting', STEP_MS, () => binds.stopReconnecting())
    .step('answer received messages, unbind', DRAIN_MS + SLACK_MS, async () => {
      await Promise.all([listener.unbindAll(DRAIN_MS), binds.unbindAll(DRAIN_MS), rcs.finishSending()]);
    })
    .step('drain the batchers', STEP_MS, async () => {
      await Promise.all([app.get(InboundService).drain(), app.get(ReceiptsService).drain(), outbound.drain()]);
      await Promise.all([app.get(SenderLearner).stop(), rcs.stop()]);
    })
    .step('remove the gateway row', STEP_MS, () => app.get(LeaseRenewer).stop())
    .step('stop maintenance', STEP_MS, () => app.get(Maintenance).stop())
    .step('close the job notifier and the bus', STEP_MS, async () => {
      await Promise.all([app.get(JobNotifier).close(), app.get(PubSub).close()]);
      // Nest closes the queue that it created.
      await app.close();
    })
    .step('close the database', STEP_MS, async () => {
      await app.get(DatabaseClock).stop();
      await app.get(Database).close();
    })
    .step('close operations', STEP_MS, () => app.get(OpsServer).close());
}
