import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CONTROL_PLANE, DAEMON, faultsOf, FILE, MASTER_KEY } from './environment.fixture.js';
import { ControlPlaneSettings, GatewaySettings, loadSettings } from './index.js';

describe('a secret in a file', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-secrets-'));
  const fileOf = (content: string): string => {
    const file = path.join(folder, `secret-${content.length}`);
    writeFileSync(file, content);
    return file;
  };
  afterAll(() => rmSync(folder, { recursive: true }));
  const without = { ...CONTROL_PLANE, COUNTERSIGN_MASTER_KEY: '' };

  it.each(['', '\n', '\r\n'])('is read without its last newline %j', (end) => {
    const environment = { ...without, COUNTERSIGN_MASTER_KEY_FILE: fileOf(`${MASTER_KEY}${end}`) };
    const { masterKeys } = loadSettings(ControlPlaneSettings, environment);
    expect([...masterKeys]).toEqual([[1, Buffer.from(MASTER_KEY, 'base64')]]);
  });

  it('loses one newline alone', () => {
    const environment = { ...without, COUNTERSIGN_MASTER_KEY_FILE: fileOf(`${MASTER_KEY}\n\n`) };
    const faults = faultsOf(() => loadSettings(ControlPlaneSettings, environment));
    expect(faults).toMatchObject([{ variable: 'COUNTERSIGN_MASTER_KEY' }]);
  });

  it.each([
    'DATABASE_URL',
    'REDIS_URL',
    'COUNTERSIGN_ENTROPY_KEYS',
    'COUNTERSIGN_ADMIN_KEY',
    'WEBHOOK_EGRESS_PROXY',
    'RBM_CLIENT_TOKEN',
  ])('may be %s, but not both ways', (variable) => {
    const values: Readonly<Record<string, string>> = {
      ...CONTROL_PLANE,
      REDIS_URL: 'redis://127.0.0.1',
      WEBHOOK_EGRESS_PROXY: 'http://127.0.0.1',
      RBM_CLIENT_TOKEN: 'hunter2-hunter2',
    };
    const value = values[variable] ?? '';
    const isOfGateway = variable.startsWith('RBM');
    const environment = isOfGateway ? { ...DAEMON, RBM_SERVICE_ACCOUNT_FILE: FILE } : CONTROL_PLANE;
    const load = (from: Record<string, string>): object =>
      isOfGateway ? loadSettings(GatewaySettings, from) : loadSettings(ControlPlaneSettings, from);
    const byFile = { ...environment, [variable]: '', [`${variable}_FILE`]: fileOf(`${value}\n`) };
    const given = { ...environment, [variable]: value };
    expect(load(byFile)).toEqual(load(given));
    const both = { ...byFile, [variable]: value };
    const fault = { variable, fault: `is set, and so is ${variable}_FILE`, allowed: 'one of the two' };
    expect(faultsOf(() => load(both))).toEqual([fault]);
  });

  it('that cannot be read, or is empty, is the fault', () => {
    for (const file of ['/nowhere/secret', fileOf('\n')]) {
      const faults = faultsOf(() =>
        loadSettings(ControlPlaneSettings, { ...without, COUNTERSIGN_MASTER_KEY_FILE: file }),
      );
      expect(faults).toMatchObject([{ variable: 'COUNTERSIGN_MASTER_KEY_FILE' }]);
    }
  });
});
