import { ControlPlaneSettings, loadSettings, SettingsError } from '@countersign/settings';
import { createLogger, redactText } from '@countersign/telemetry';
import { startControlPlane } from './control-plane.js';

/** A parent that dies while we start must not leave us behind; afterwards the shutdown watches for it. */
const abandon = (): never => process.exit(1);
process.once('disconnect', abandon);
// It may have died while this program was being loaded. Without a parent of ours the property is not there.
if ('connected' in process && !process.connected) abandon();

function wordsFor(error: unknown): string {
  if (error instanceof SettingsError) return error.message;
  const text = redactText(error instanceof Error ? error.message : String(error));
  return text.includes('EADDRINUSE')
    ? `${text}: stop what uses the port, or set CONTROL_PLANE_PORT or CONTROL_PLANE_OPS_PORT`
    : text;
}

try {
  const settings = loadSettings(ControlPlaneSettings);
  const logger = createLogger({ app: 'control-plane', level: settings.logLevel });
  const shutdown = await startControlPlane(settings, logger);
  process.off('disconnect', abandon);
  shutdown.listen();
  logger.info({ baseUrl: settings.publicBaseUrl, port: settings.port, opsPort: settings.opsPort }, 'ready');
} catch (error) {
  process.stderr.write(`${wordsFor(error)}\n`);
  process.exit(1);
}
