import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { ControlPlaneSettings, loadSettings, SettingsError } from './index.js';
import type { SettingFault } from './settings-error.js';

/** The path of a readable file. */
export const FILE = fileURLToPath(import.meta.url);
export const MASTER_KEY = randomBytes(32).toString('base64');
export const ENTROPY_KEY = randomBytes(32).toString('base64');
export const DAEMON = {
  DATABASE_URL: 'postgres://countersign:hunter2@127.0.0.1:5432/countersign',
  COUNTERSIGN_MASTER_KEY: MASTER_KEY,
};
export const CONTROL_PLANE_KEYS = {
  COUNTERSIGN_ENTROPY_KEYS: `1:${ENTROPY_KEY}`,
  COUNTERSIGN_ADMIN_KEY: `csk_admin_${randomBytes(19).toString('hex')}`,
};
export const CONTROL_PLANE = { ...DAEMON, ...CONTROL_PLANE_KEYS, TLS_CERT_FILE: FILE, TLS_KEY_FILE: FILE };

/** The faults for which loading fails; empty when it succeeds. */
export function faultsOf(load: () => unknown): readonly SettingFault[] {
  try {
    load();
  } catch (error) {
    if (error instanceof SettingsError) return error.faults;
    throw error;
  }
  return [];
}

/** The faults of the control plane's settings in a valid environment with these changes. */
export const controlPlaneFaults = (changes: Record<string, string>): readonly SettingFault[] =>
  faultsOf(() => loadSettings(ControlPlaneSettings, { ...CONTROL_PLANE, ...changes }));
