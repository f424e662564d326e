import 'reflect-metadata';
import { Logger as NestLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadSettings, SettingsError, SimulatorSettings } from '@countersign/settings';
import { createLogger, type Logger, NestPinoLogger, runDaemon, Shutdown } from '@countersign/telemetry';
import { ErrorFilter } from './http/error.filter.js';
import { validationPipe } from './http/validation.pipe.js';
import { SimulatorModule } from './simulator.module.js';
import { SmscServer } from './smsc/smsc.server.js';

/** The control surface has no key: it is for this machine alone. */
const HOST = '127.0.0.1';
const STOP_STEP_MS = 3_000;

async function start(settings: Readonly<SimulatorSettings>, logger: Logger): Promise<Shutdown> {
  const smsc = new SmscServer({
    port: settings.smppPort,
    systemId: settings.systemId,
    password: settings.password,
    log: (message) => logger.info(message),
  });
  NestLogger.overrideLogger(new NestPinoLogger(logger));
  const app = await NestFactory.create<NestFastifyApplication>(
    SimulatorModule.register(smsc),
    new FastifyAdapter({ forceCloseConnections: true }),
  );
  app.useGlobalPipes(validationPipe());
  app.useGlobalFilters(new ErrorFilter());
  await smsc.listen();
  await app.listen(settings.httpPort, HOST);
  return new Shutdown({ logger })
    .step('HTTP', STOP_STEP_MS, () => app.close())
    .step('SMPP', STOP_STEP_MS, () => smsc.close());
}

await runDaemon({
  portVariables: 'SIMULATOR_SMPP_PORT or SIMULATOR_HTTP_PORT',
  isForOperator: (error) => error instanceof SettingsError,
  start: async () => {
    const settings = loadSettings(SimulatorSettings);
    const logger = createLogger({ app: 'simulator', level: settings.logLevel });
    const shutdown = await start(settings, logger);
    const { smppPort, httpPort } = settings;
    return { shutdown, ready: () => logger.info({ smppPort, httpPort }, 'ready') };
  },
});
