import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { CONTROL_PLANE, DAEMON, faultsOf, FILE, MASTER_KEY } from './environment.fixture.js';
import {
  ControlPlaneSettings,
  GatewaySettings,
  loadSettings,
  MigrationSettings,
  SettingsError,
  SimulatorSettings,
} from './index.js';
import { FORMS_OF_SECRETS, piecesOf, randomOctets } from './misplaced-secrets.fixture.js';
import { listVariables } from './variable.js';

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

/** Every variable that names a file, with the settings that read it; not those of which it matters only whether they are given. */
const FILE_VARIABLES = [ControlPlaneSettings, GatewaySettings, MigrationSettings, SimulatorSettings].flatMap(
  (settings) =>
    [...listVariables(new settings()).values()]
      .filter(({ allowed }) => allowed !== 'any value')
      .map(({ name, secret }) => (secret ? `${name}_FILE` : name))
      .filter((name) => name.endsWith('_FILE'))
      .map((variable) => ({ settings, variable })),
);

const misplacedSecrets = fc
  .tuple(fc.constantFrom(...FORMS_OF_SECRETS), fc.integer(), fc.integer({ min: 24, max: 64 }))
  .map(([write, seed, length]) => write(randomOctets(seed, length)));

describe('the value of a variable that names a file', () => {
  const messageOf = (variable: string, value: string): string => {
    const { settings } = FILE_VARIABLES.find((each) => each.variable === variable) ?? { settings: GatewaySettings };
    return new SettingsError(faultsOf(() => loadSettings<object>(settings, { [variable]: value }))).message;
  };

  it('is not shown when it is the secret itself', () => {
    const variables = [...new Set(FILE_VARIABLES.map(({ variable }) => variable))];
    expect(variables).toEqual(expect.arrayContaining(['REDIS_URL_FILE', 'TLS_KEY_FILE', 'RBM_SERVICE_ACCOUNT_FILE']));
    fc.assert(
      fc.property(fc.constantFrom(...variables), misplacedSecrets, (variable, secret) => {
        const message = messageOf(variable, secret);
        const [line = ''] = message.split('\n').filter((each) => each.startsWith(`  ${variable} `));
        expect(line).toMatch(/ has a value \(not shown: it may be the secret itself\) that .* Allowed: the path of /);
        expect(piecesOf(secret).filter((piece) => line.includes(piece))).toEqual([]);
        expect(message).toBe(messageOf(variable, 'x'));
      }),
      { numRuns: 500 },
    );
  });

  const variables = ['COUNTERSIGN_MASTER_KEY_FILE', 'TLS_KEY_FILE'];
  it.each(['/absent/master', './absent/key.pem', '../absent/key', '/absent/secrets/COUNTERSIGN_MASTER_KEY'])(
    'is shown when it is a path: %s',
    (file) => {
      for (const each of variables) expect(messageOf(each, file)).toContain(`${each} is "${file}", which is no file`);
    },
  );

  it.each([`/${'a'.repeat(255)}`, 'absent/key', '//u:hunter2@db/x', '/a=b', '/a\n'])('is not shown: %j', (file) => {
    for (const each of variables) expect(messageOf(each, file)).toContain(`${each} has a value (not shown: `);
  });
});
