export { ControlPlaneSettings, type OidcSettings, type OtpLimits, type TlsSettings } from './control-plane.settings.js';
export { DaemonSettings } from './daemon.settings.js';
export { GatewaySettings, type RbmSettings } from './gateway.settings.js';
export { loadSettings } from './load-settings.js';
export { readLogLevel } from './log-level.js';
export { isGuardedUrl } from './readings.js';
export { MigrationSettings } from './migration.settings.js';
export { SettingsError } from './settings-error.js';
export { SimulatorSettings } from './simulator.settings.js';
