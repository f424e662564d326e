import { readFileSync } from 'node:fs';
import { LOG_LEVELS, type DaemonSettings, type LogLevel } from './daemon.settings.js';
import { SettingsError } from './settings-error.js';

const isLogLevel = (text: string): text is LogLevel => LOG_LEVELS.some((level) => level === text);

/** The level that is in `LOG_LEVEL_FILE` now, else that of `LOG_LEVEL`. Throws SettingsError for a file without a level. */
export function readLogLevel({ logLevel, logLevelFile }: Pick<DaemonSettings, 'logLevel' | 'logLevelFile'>): LogLevel {
  if (logLevelFile === null) return logLevel;
  const text = readFileSync(logLevelFile, 'utf8').trim();
  if (isLogLevel(text)) return text;
  const fault = 'names a file without a level';
  throw new SettingsError([{ variable: 'LOG_LEVEL_FILE', fault, allowed: `a file with ${LOG_LEVELS.join(', ')}` }]);
}
