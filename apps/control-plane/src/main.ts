import 'reflect-metadata';
import { KeyCheckError } from '@countersign/key-ring';
import { SchemaOutdated } from '@countersign/postgres/schema';
import { ControlPlaneSettings, loadSettings, readLogLevel, SettingsError } from '@countersign/settings';
import { createLogger, reloadLogLevel, runDaemon } from '@countersign/telemetry';
import { startControlPlane } from './control-plane.js';

await runDaemon({
  portVariables: 'CONTROL_PLANE_PORT or CONTROL_PLANE_OPS_PORT',
  isForOperator: (error) =>
    error instanceof SettingsError || error instanceof SchemaOutdated || error instanceof KeyCheckError,
  start: async () => {
    const settings = loadSettings(ControlPlaneSettings);
    const logger = createLogger({ app: 'control-plane', level: readLogLevel(settings) });
    for (const warning of settings.warnings()) logger.warn(warning);
    const shutdown = await startControlPlane(settings, logger);
    shutdown.onReload(() => reloadLogLevel(logger, () => readLogLevel(settings)));
    const { publicBaseUrl: baseUrl, port, opsPort } = settings;
    return { shutdown, ready: () => logger.info({ baseUrl, port, opsPort }, 'ready') };
  },
});
