import { Logger as NestLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Lifecycle, prepareStart } from '@countersign/composition';
import type { GatewaySettings } from '@countersign/settings';
import { NestPinoLogger, Shutdown, type Logger } from '@countersign/telemetry';
import { START_PHASES, STOP_STEPS } from './composition/phases.js';
import { GatewayModule } from './gateway.module.js';
import { SmppPorts } from './listener/smpp-ports.js';
import { loadServiceAccount } from './rcs/rbm/service-account.js';
import { KEY_DEPENDANTS } from './stores/key-dependants.js';

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
  await prepareStart(settings, { entropy: null, dependants: KEY_DEPENDANTS, isComplete: false }, logger);
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
