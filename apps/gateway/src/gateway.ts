import { Logger as NestLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ACCOUNT_KEY_DEPENDANTS } from '@countersign/accounts/keys';
import { prepareQueues } from '@countersign/bus';
import { CARRIER_KEY_DEPENDANTS } from '@countersign/carriers/credentials';
import { Lifecycle } from '@countersign/composition';
import { prepareByDaemon } from '@countersign/events';
import { checkKeys, joinDependants } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { ensureSchema } from '@countersign/postgres/schema';
import { SESSION_KEY_DEPENDANTS } from '@countersign/session';
import type { GatewaySettings } from '@countersign/settings';
import { NestPinoLogger, Shutdown, type Logger } from '@countersign/telemetry';
import { START_PHASES, STOP_STEPS } from './composition/phases.js';
import { GatewayModule } from './gateway.module.js';
import { SmppPorts } from './listener/smpp-ports.js';
import { loadServiceAccount } from './rcs/rbm/service-account.js';

/** Columns and rows of the gateway's tables that depend on the master key. The control plane has further ones. */
const KEY_DEPENDANTS = joinDependants(ACCOUNT_KEY_DEPENDANTS, CARRIER_KEY_DEPENDANTS, SESSION_KEY_DEPENDANTS);

/**
 * Starts a gateway: checks tables and keys, then runs the phases of the start (`composition/phases.ts`). The returned shutdown
 * does not listen to signals yet. `exit` replaces the end of the process.
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
    log: (facts, message, level) => logger[level](facts, message),
  });
  await prepareQueues(settings);
  NestLogger.overrideLogger(new NestPinoLogger(logger));
  const app = await NestFactory.createApplicationContext(GatewayModule.register(settings, logger));
  const lifecycle = app.get(Lifecycle);
  // Nest closes the queue that it created.
  lifecycle.onStop('close the modules', () => app.close());
  await lifecycle.start(START_PHASES);
  const shutdown = lifecycle.addStopSteps(new Shutdown(exit === undefined ? { logger } : { logger, exit }), STOP_STEPS);
  const ports = app.get(SmppPorts);
  return shutdown.onReload(() => ports.reloadCertificate());
}
