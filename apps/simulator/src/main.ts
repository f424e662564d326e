import 'reflect-metadata';
import { Logger as NestLogger } from '@nestjs/common';
import { loadSettings, SettingsError, SimulatorSettings } from '@countersign/settings';
import { createLogger, type Logger, NestPinoLogger, runDaemon, Shutdown } from '@countersign/telemetry';
import { openSimulator } from './simulator.js';

const STOP_STEP_MS = 3_000;

async function start(settings: Readonly<SimulatorSettings>, logger: Logger): Promise<Shutdown> {
  NestLogger.overrideLogger(new NestPinoLogger(logger));
  const simulator = await openSimulator(settings, (message) => logger.info(message));
  return new Shutdown({ logger }).step('simulator', STOP_STEP_MS, () => simulator.close());
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
