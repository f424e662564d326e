import 'reflect-metadata';
import { GatewaySettings, loadSettings, SettingsError } from '@countersign/settings';
import { createLogger, redactText } from '@countersign/telemetry';
import { startGateway } from './gateway.js';

/** A parent that dies while we start must not leave us behind; afterwards the shutdown watches for it. */
const abandon = (): never => process.exit(1);
process.once('disconnect', abandon);
// It may have died while this program was being loaded. Without a parent of ours the property is not there.
if ('connected' in process && !process.connected) abandon();

try {
  const settings = loadSettings(GatewaySettings);
  const logger = createLogger({ app: 'gateway', level: settings.logLevel });
  const shutdown = await startGateway(settings, logger);
  process.off('disconnect', abandon);
  shutdown.listen();
  logger.info({ smppPort: settings.smppPort, opsPort: settings.opsPort }, 'ready');
} catch (error) {
  process.stderr.write(`${error instanceof SettingsError ? error.message : redactText(String(error))}\n`);
  process.exit(1);
}
