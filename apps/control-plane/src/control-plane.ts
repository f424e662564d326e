import { entropyVersionsInUse } from '@countersign/accounts/keys';
import { Lifecycle, prepareStart } from '@countersign/composition';
import { Database } from '@countersign/postgres';
import { warnOfRoleFaults } from '@countersign/postgres/schema';
import type { ControlPlaneSettings } from '@countersign/settings';
import { type Logger, NestPinoLogger, Shutdown } from '@countersign/telemetry';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { PHASES_AFTER_REQUESTS, PHASES_BEFORE_REQUESTS, STOP_STEPS } from './composition/phases.js';
import { describeApi } from './docs/openapi/api-document.js';
import { ApiDescription } from './docs/openapi/openapi.controller.js';
import { ErrorAnswers } from './http/error-answers.js';
import { RequestIds } from './http/request-ids.js';
import { ServerHooks } from './http/server-hooks.js';
import { ApiServer } from './http/server.js';
import { KEY_DEPENDANTS } from './key-rotation/key-dependants.js';
import { closeQueue } from './operations/close-queue.js';
import { FailureLog } from './operations/failure-log.js';
import { RealtimeAdapter } from './realtime/realtime.adapter.js';

/**
 * Starts a control plane: checks tables and keys, creates the modules, then runs the phases of the start
 * (`composition/phases.ts`) and opens the ports. The returned shutdown does not listen for signals yet; it ends the process by
 * default, or calls `exit`. Rejects when a port is in use or a store cannot be reached.
 */
export async function startControlPlane(
  settings: Readonly<ControlPlaneSettings>,
  logger: Logger,
  exit?: (code: number) => void,
): Promise<Shutdown> {
  const failures = new FailureLog(logger);
  const entropy = { keys: settings.entropyKeys, versionsInUse: entropyVersionsInUse };
  const keys = await prepareStart(settings, { entropy, dependants: KEY_DEPENDANTS, isComplete: true }, logger);
  const requestIds = new RequestIds();
  const server = new ApiServer(settings.tls, requestIds.next);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.of({ keys, settings, failures, requestIds }),
    server.adapter,
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as classes
    { bodyParser: false, logger: new NestPinoLogger(logger), abortOnError: false },
  );
  if (settings.production) await warnOfRoleFaults(app.get(Database), 'daemon', (message) => logger.warn(message));
  server.use(app.get(ServerHooks));
  app.useGlobalFilters(app.get(ErrorAnswers));
  app.useWebSocketAdapter(app.get(RealtimeAdapter));
  app.get(ApiDescription).publish(describeApi(app, settings.publicBaseUrl));
  const lifecycle = app.get(Lifecycle);
  lifecycle.onStop('modules', () => closeQueue(failures, () => app.close()));
  const certificate = server.watchCertificate(logger);
  lifecycle.onStop('connections', () => certificate.stop());
  await lifecycle.start(PHASES_BEFORE_REQUESTS);
  await app.listen(settings.port, settings.host);
  await lifecycle.start(PHASES_AFTER_REQUESTS);
  const shutdown = lifecycle.addStopSteps(new Shutdown(exit === undefined ? { logger } : { logger, exit }), STOP_STEPS);
  return shutdown.onReload(() => certificate.reload());
}
