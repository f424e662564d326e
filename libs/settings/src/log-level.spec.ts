import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readLogLevel } from './log-level.js';

it('the log level is that of the file as it is now, and none other than a level', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-level-'));
  const logLevelFile = path.join(folder, 'level');
  const settings = { logLevel: 'info', logLevelFile } as const;
  writeFileSync(logLevelFile, 'debug\n');
  expect(readLogLevel(settings)).toBe('debug');
  writeFileSync(logLevelFile, 'warn');
  expect(readLogLevel(settings)).toBe('warn');
  writeFileSync(logLevelFile, 'loud');
  expect(() => readLogLevel(settings)).toThrow('LOG_LEVEL_FILE');
  expect(readLogLevel({ ...settings, logLevelFile: null })).toBe('info');
  rmSync(folder, { recursive: true });
});
