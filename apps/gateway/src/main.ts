import 'reflect-metadata';
import { KeyCheckError } from '@countersign/key-ring';
import { SchemaOutdated } from '@countersign/postgres/schema';
import { GatewaySettings, loadSettings, readLogLevel, SettingsError } from '@countersign/settings';
import { createLogger, reloadLogLevel, runDaemon } from '@countersign/telemetry';
import { startGateway } from './gateway.js';

await runDaemon({
  portVariables: 'GATEWAY_HTTP_PORT or GATEWAY_OPS_PORT',
  isForOperator: (error) =>
    error instanceof SettingsError || error instanceof SchemaOutdated || error instanceof KeyCheckError,
  start: async () => {
    const settings = loadSettings(GatewaySettings);
    const logger = createLogger({ app: 'gateway', level: readLogLevel(settings) });
    for (const warning of settings.warnings()) logger.warn(warning);
    const shutdown = await startGateway(settings, logger);
    shutdown.onReload(() => reloadLogLevel(logger, () => readLogLevel(settings)));
    const { smppPort, httpPort, opsPort } = settings;
    return { shutdown, ready: () => logger.info({ smppPort, httpPort, opsPort }, 'ready') };
  },
});
