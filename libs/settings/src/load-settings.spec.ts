import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CONTROL_PLANE,
  CONTROL_PLANE_KEYS,
  controlPlaneFaults,
  DAEMON,
  faultsOf,
  FILE,
  ENTROPY_KEY,
  MASTER_KEY,
} from './environment.fixture.js';
import { ControlPlaneSettings, GatewaySettings, loadSettings, SettingsError, SimulatorSettings } from './index.js';
import { FORMS_OF_SECRETS, piecesOf, randomOctets } from './misplaced-secrets.fixture.js';

describe('a good environment', () => {
  it('gives the documented defaults', () => {
    const settings = loadSettings(ControlPlaneSettings, CONTROL_PLANE);
    expect(settings).toMatchObject({
      databaseUrl: DAEMON.DATABASE_URL,
      redisUrl: null,
      storesWithoutTls: [],
      databasePoolMax: 10,
      logLevel: 'info',
      masterKeys: new Map([[1, Buffer.from(MASTER_KEY, 'base64')]]),
      entropyKeys: new Map([[1, Buffer.from(ENTROPY_KEY, 'base64')]]),
      adminKey: CONTROL_PLANE_KEYS.COUNTERSIGN_ADMIN_KEY,
      opsHost: '127.0.0.1',
      opsPort: 9464,
      retentionDays: 30,
      batchMaxCommands: 64,
      host: '127.0.0.1',
      port: 8443,
      publicBaseUrl: 'https://127.0.0.1:8443',
      tls: { mode: 'direct', certFile: FILE, keyFile: FILE },
      trustedProxies: [],
      adminAllowedCidrs: [],
      idempotencyKeysPerAccount: 2_000_000,
      liveSessionsPerPhone: 0,
      webhookAllowedCidrs: [],
      webhookAllowHttp: false,
      webhookEgressProxy: null,
      otpLimits: {
        phonePerHour: 5,
        phonePerDay: 10,
        breakerSends: 50,
        breakerPercent: 20,
        breakerBlockSeconds: 3_600,
      },
    });
    expect(loadSettings(GatewaySettings, DAEMON)).toMatchObject({
      opsPort: 9465,
      smppHost: '127.0.0.1',
      smppPort: 2775,
      smppTlsPort: 3550,
      moSenderPerSecond: 10,
      smppTlsCertFile: null,
      smppTlsKeyFile: null,
      httpHost: '127.0.0.1',
      httpPort: 8081,
      rbmBaseUrl: 'https://rcsbusinessmessaging.googleapis.com',
      rbm: null,
    });
    const credentials = { SIMULATOR_SYSTEM_ID: 'simulator', SIMULATOR_PASSWORD: 'secret08' };
    expect(loadSettings(SimulatorSettings, credentials)).toMatchObject({
      smppPort: 2776,
      httpPort: 8090,
      systemId: 'simulator',
      password: 'secret08',
      rbmServiceAccountFile: null,
      rbmClientToken: null,
      rbmWebhookUrl: null,
      demoBaseUrl: null,
      demoCaFile: null,
      demoApiKey: null,
      demoAccountId: null,
      demoBrandId: null,
      demoWebhookSecret: null,
    });
  });

  it('is read as it is written, and an empty variable counts as not set', () => {
    const settings = loadSettings(ControlPlaneSettings, {
      ...DAEMON,
      ...CONTROL_PLANE_KEYS,
      REDIS_URL: '',
      COUNTERSIGN_ENTROPY_KEYS: `1:${MASTER_KEY},12:${randomBytes(64).toString('base64')}`,
      CONTROL_PLANE_HOST: '::1',
      TLS_MODE: 'proxy',
      TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8,::1',
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: 'true',
      LOG_LEVEL: 'debug',
    });
    expect(settings.redisUrl).toBeNull();
    expect([...settings.entropyKeys.keys()]).toEqual([1, 12]);
    expect(settings.publicBaseUrl).toBe('https://[::1]:8443');
    expect(settings.tls).toEqual({
      mode: 'proxy',
      trustedProxies: ['10.0.0.0/8', '192.0.2.7/32', 'fd00::/8', '::1/128'],
    });
    expect(settings.webhookAllowedCidrs).toEqual(['127.0.0.0/8']);
    expect(settings.webhookAllowHttp).toBe(true);
    expect(settings.logLevel).toBe('debug');
    const everywhere = { ...CONTROL_PLANE, CONTROL_PLANE_HOST: '0.0.0.0', CONTROL_PLANE_PORT: '443' };
    expect(loadSettings(ControlPlaneSettings, everywhere).publicBaseUrl).toBe('https://localhost:443');
    const named = { ...CONTROL_PLANE, PUBLIC_BASE_URL: 'https://verify.example.com/' };
    expect(loadSettings(ControlPlaneSettings, named).publicBaseUrl).toBe('https://verify.example.com');
  });

  it('has a ring of master keys in the order of the variable, or one key that is version 1', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 5 }), (versions) => {
        const keys = versions.map((version): [number, Buffer] => [version, randomBytes(32)]);
        const text = keys.map(([version, key]) => `${version}:${key.toString('base64')}`).join(',');
        const { masterKeys } = loadSettings(GatewaySettings, { ...DAEMON, COUNTERSIGN_MASTER_KEY: text });
        expect([...masterKeys]).toEqual(keys);
      }),
    );
    expect([...loadSettings(GatewaySettings, DAEMON).masterKeys]).toEqual([[1, Buffer.from(MASTER_KEY, 'base64')]]);
  });

  it('is frozen', () => {
    const settings = loadSettings(ControlPlaneSettings, CONTROL_PLANE);
    expect(Object.isFrozen(settings)).toBe(true);
    expect(() => Reflect.set(settings, 'port', 1)).not.toThrow();
    expect(settings.port).toBe(8443);
  });
});

describe('a bad variable is named with its fault and what is allowed', () => {
  const port = 'a whole number from 1 to 65535';
  const files = 'the path of a readable file';
  it.each([
    ['CONTROL_PLANE_PORT', '0', 'is "0", which is below 1', port],
    ['CONTROL_PLANE_PORT', '65536', 'is "65536", which is above 65535', port],
    ['CONTROL_PLANE_OPS_PORT', '80a', 'is "80a", which is not a whole number', port],
    ['DATABASE_POOL_MAX', '1.5', 'is "1.5", which is not a whole number', 'a whole number from 2 to 200'],
    ['RETENTION_DAYS', '1e3', 'is "1e3", which is not a whole number', 'a whole number from 4 to 3650'],
    ['BATCH_MAX_COMMANDS', '501', 'is "501", which is above 500', 'a whole number from 1 to 500'],
    ['NODE_ENV', 'prod', 'is "prod", which is none of these', 'production, development, test'],
    ['LOG_LEVEL', 'loud', 'is "loud", which is none of these', 'fatal, error, warn, info, debug, trace, silent'],
    ['TLS_MODE', 'off', 'is "off", which is none of these', 'direct, proxy'],
    ['TLS_CERT_FILE', '/nowhere/x.pem', 'is "/nowhere/x.pem", which is no file that this process can read', files],
    ['OPS_HOST', 'a b', 'is "a b", which is no address and no host name', 'an IP address or a host name'],
    ['WEBHOOK_ALLOW_HTTP', 'yes', 'is "yes", which is neither true nor false', 'true or false'],
  ])('%s=%s', (variable, value, fault, allowed) => {
    expect(controlPlaneFaults({ [variable]: value })).toEqual([{ variable, fault, allowed }]);
  });

  it.each([
    ['PUBLIC_BASE_URL', 'http://verify.example.com'],
    ['PUBLIC_BASE_URL', 'https://u:p@verify.example.com'],
    ['PUBLIC_BASE_URL', 'verify.example.com'],
    ['ADMIN_ALLOWED_CIDRS', '10.0.0.0/33'],
    ['ADMIN_ALLOWED_CIDRS', 'office'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.0/8,,'],
    ['TRUSTED_PROXIES', '10/8'],
    ['TRUSTED_PROXIES', '0x7f.1'],
    ['TRUSTED_PROXIES', '::/129'],
    ['WEBHOOK_ALLOWED_CIDRS', 'localhost'],
    ['CONTROL_PLANE_HOST', '127.0.0.1:8443'],
  ])('%s=%s', (variable, value) => {
    expect(controlPlaneFaults({ [variable]: value })).toMatchObject([{ variable }]);
  });

  it.each([
    ['LOG_LEVEL', randomBytes(32).toString('base64')],
    ['LOG_LEVEL', 'k3Vd9qLzX'],
    ['TLS_MODE', randomBytes(16).toString('hex')],
    ['TLS_MODE', `csk_admin_${'a'.repeat(38)}`],
    ['TRUSTED_PROXIES', CONTROL_PLANE_KEYS.COUNTERSIGN_ADMIN_KEY],
    ['TRUSTED_PROXIES', `10.0.0.0/8,${MASTER_KEY}`],
    ['STORES_WITHOUT_TLS', `db,${MASTER_KEY}`],
    ['CONTROL_PLANE_PORT', randomBytes(24).toString('base64url')],
    ['PUBLIC_BASE_URL', 'https://u:hunter2@verify.example.com'],
    ['OPS_HOST', 'x '.repeat(41)],
  ])('%s with what may be a secret, %s, is told by its length', (variable, value) => {
    const [fault, ...others] = controlPlaneFaults({ [variable]: value });
    expect(others).toEqual([]);
    expect(fault?.variable).toBe(variable);
    expect(fault?.fault).toContain(`is ${value.length} characters long (not shown: it may be a secret), which `);
    expect(piecesOf(value).filter((piece) => fault?.fault.includes(piece) && !'10.0.0.0/8'.includes(piece))).toEqual(
      [],
    );
  });

  it('no secret of any form is shown where a level, a mode or a list of addresses belongs', () => {
    const secrets = fc
      .tuple(fc.constantFrom(...FORMS_OF_SECRETS), fc.integer(), fc.integer({ min: 24, max: 64 }))
      .map(([write, seed, length]) => write(randomOctets(seed, length)));
    fc.assert(
      fc.property(fc.constantFrom('LOG_LEVEL', 'TLS_MODE', 'TRUSTED_PROXIES'), secrets, (variable, secret) => {
        const faults = controlPlaneFaults({ [variable]: secret }).map(({ fault }) => fault);
        expect(faults).toHaveLength(1);
        const words = secret.match(/[A-Za-z0-9+/_-]{12,}/g) ?? [];
        expect(words.filter((word) => faults.join().includes(word))).toEqual([]);
      }),
    );
  });

  it('all of them at once', () => {
    const error = faultsOf(() => loadSettings(ControlPlaneSettings, { CONTROL_PLANE_PORT: 'x', LOG_LEVEL: 'y' }));
    expect(error.map(({ variable }) => variable).sort()).toEqual([
      'CONTROL_PLANE_PORT',
      'COUNTERSIGN_ADMIN_KEY',
      'COUNTERSIGN_ENTROPY_KEYS',
      'COUNTERSIGN_MASTER_KEY',
      'DATABASE_URL',
      'LOG_LEVEL',
    ]);
    expect(new SettingsError(error).message).toContain('6 settings are not right:\n  ');
  });
});

describe('the RCS platform is called with credentials', () => {
  const baseUrlOf = (text: string): string =>
    loadSettings(GatewaySettings, { ...DAEMON, RBM_BASE_URL: text }).rbmBaseUrl;

  it.each([
    ['https://europe-rcsbusinessmessaging.googleapis.com/', 'https://europe-rcsbusinessmessaging.googleapis.com'],
    ['https://RCS.example.com:8443/rbm//', 'https://rcs.example.com:8443/rbm'],
    ['http://127.0.0.1:8090', 'http://127.0.0.1:8090'],
    ['http://127.8.9.1:8090/', 'http://127.8.9.1:8090'],
    ['http://[::1]:8090/rbm/', 'http://[::1]:8090/rbm'],
    ['http://localhost:8090', 'http://localhost:8090'],
    ['https://rcs.example.com/?', 'https://rcs.example.com'],
  ])('%s is %s', (text, url) => {
    expect(baseUrlOf(text)).toBe(url);
  });

  it.each([
    ['http://rcsbusinessmessaging.googleapis.com', 'is neither https nor on loopback'],
    ['http://10.0.0.1:8090', 'is neither https nor on loopback'],
    ['http://0.0.0.0:8090', 'is neither https nor on loopback'],
    ['http://localhost.example.com', 'is neither https nor on loopback'],
    ['http://127.0.0.1.example.com', 'is neither https nor on loopback'],
    ['ftp://127.0.0.1', 'is neither https nor on loopback'],
    ['127.0.0.1:8090', 'is no URL'],
    ['https://user:hunter2@rcs.example.com', 'has a user, a query or a fragment'],
    ['https://rcs.example.com/?key=hunter2', 'has a user, a query or a fragment'],
    ['https://rcs.example.com/#hunter2', 'has a user, a query or a fragment'],
  ])('%s is refused: it %s', (text, fault) => {
    const faults = faultsOf(() => baseUrlOf(text));
    expect(faults).toMatchObject([{ variable: 'RBM_BASE_URL', fault: `has a value (not shown) that ${fault}` }]);
    expect(new SettingsError(faults).message).not.toContain('hunter2');
  });

  it.each([
    ['hunter2', 'is shorter than 8 characters'],
    ['hunter2 hunter2', 'has a character that is not printable ASCII'],
    ['hunter2'.repeat(40), 'is longer than 256 characters'],
  ])('a client token %j is refused unseen', (text, fault) => {
    const faults = faultsOf(() => loadSettings(GatewaySettings, { ...DAEMON, RBM_CLIENT_TOKEN: text }));
    expect(faults).toMatchObject([{ variable: 'RBM_CLIENT_TOKEN', fault: `has a value (not shown) that ${fault}` }]);
  });
});

describe('secrets', () => {
  const short = randomBytes(31).toString('base64');
  const LONG = randomBytes(33).toString('base64');
  it.each([
    ['DATABASE_URL', 'mysql://root:hunter2@db/x', 'has another protocol'],
    ['DATABASE_URL', 'hunter2', 'is no URL'],
    ['REDIS_URL', 'http://:hunter2@redis', 'has another protocol'],
    ['WEBHOOK_EGRESS_PROXY', 'socks://u:hunter2@proxy', 'has another protocol'],
    ['COUNTERSIGN_MASTER_KEY', short, 'has 31 bytes'],
    ['COUNTERSIGN_MASTER_KEY', 'hunter2 hunter2', 'is not standard base64'],
    ['COUNTERSIGN_MASTER_KEY', `1:${short}`, 'has a version 1 of 31 bytes'],
    ['COUNTERSIGN_MASTER_KEY', `1:${LONG}`, 'has a version 1 of 33 bytes'],
    ['COUNTERSIGN_MASTER_KEY', `${MASTER_KEY},${MASTER_KEY}`, 'is not standard base64'],
    ['COUNTERSIGN_MASTER_KEY', `1:${MASTER_KEY},${MASTER_KEY}`, 'has an entry that is not <version>:<base64>'],
    ['COUNTERSIGN_MASTER_KEY', `1:${MASTER_KEY},1:${LONG}`, 'names version 1 twice'],
    ['COUNTERSIGN_MASTER_KEY', `1:${MASTER_KEY},2:${MASTER_KEY}`, 'has the same key for the versions 1 and 2'],
    ['COUNTERSIGN_MASTER_KEY', `256:${MASTER_KEY}`, 'has a version above 255'],
    ['COUNTERSIGN_ENTROPY_KEYS', MASTER_KEY, 'has an entry that is not <version>:<base64>'],
    ['COUNTERSIGN_ENTROPY_KEYS', `0:${MASTER_KEY}`, 'has an entry that is not <version>:<base64>'],
    ['COUNTERSIGN_ENTROPY_KEYS', `1:${short}`, 'has a version 1 of 31 bytes'],
    ['COUNTERSIGN_ENTROPY_KEYS', `1:${MASTER_KEY},1:${MASTER_KEY}`, 'names version 1 twice'],
    ['COUNTERSIGN_ADMIN_KEY', 'hunter2', 'is no admin key'],
  ])('%s: a wrong value is told without showing it', (variable, value, fault) => {
    const faults = controlPlaneFaults({ [variable]: value });
    expect(faults).toMatchObject([{ variable, fault: `has a value (not shown) that ${fault}` }]);
    expect(new SettingsError(faults).message).not.toContain(value);
    expect(new SettingsError(faults).message).not.toContain('hunter2');
  });

  it.each(['COUNTERSIGN_ENTROPY_KEYS', 'COUNTERSIGN_ADMIN_KEY'])('the gateway starts without %s', (variable) => {
    const environment = { ...CONTROL_PLANE, NODE_ENV: 'production', [variable]: '' };
    expect(faultsOf(() => loadSettings(ControlPlaneSettings, environment))).toMatchObject([{ variable }]);
    expect(faultsOf(() => loadSettings(GatewaySettings, environment))).toEqual([]);
    expect(loadSettings(GatewaySettings, CONTROL_PLANE)).not.toHaveProperty('entropyKeys');
    expect(loadSettings(GatewaySettings, CONTROL_PLANE)).not.toHaveProperty('adminKey');
  });

  it.each(['DATABASE_URL', 'COUNTERSIGN_MASTER_KEY'])(
    'without %s neither daemon starts, in production least of all',
    (variable) => {
      const environment = { ...CONTROL_PLANE, NODE_ENV: 'production', [variable]: '' };
      for (const load of [
        () => loadSettings(ControlPlaneSettings, environment),
        () => loadSettings(GatewaySettings, environment),
      ]) {
        expect(faultsOf(load)).toMatchObject([{ variable, fault: 'is not set' }]);
      }
    },
  );

  it('for entropy may not be the same under two versions in production', () => {
    const other = randomBytes(32).toString('base64');
    const keys = `1:${ENTROPY_KEY},2:${other},3:${ENTROPY_KEY}`;
    const variable = 'COUNTERSIGN_ENTROPY_KEYS';
    expect(controlPlaneFaults({ [variable]: keys, NODE_ENV: 'production' })).toEqual([
      { variable, fault: 'has the same key for the versions 1 and 3', allowed: 'another key for each version' },
    ]);
    expect(controlPlaneFaults({ [variable]: keys })).toEqual([]);
    expect(controlPlaneFaults({ [variable]: `1:${ENTROPY_KEY},2:${other}`, NODE_ENV: 'production' })).toEqual([]);
  });

  it('never appear in an error, whatever they are', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 12 }), (value) => {
        for (const variable of ['DATABASE_URL', 'COUNTERSIGN_MASTER_KEY', 'COUNTERSIGN_ENTROPY_KEYS']) {
          expect(new SettingsError(controlPlaneFaults({ [variable]: value })).message).not.toContain(value);
        }
      }),
    );
  });
});

describe('NODE_ENV', () => {
  it.each([
    ['production', true],
    ['development', false],
    ['test', false],
    ['', false],
  ])('%j is one of production: %s', (text, production) => {
    expect(loadSettings(ControlPlaneSettings, { ...CONTROL_PLANE, NODE_ENV: text }).production).toBe(production);
  });

  it.each(['prod', 'Production', 'staging', ' production'])('%j starts neither daemon', (text) => {
    const environment = { ...CONTROL_PLANE, NODE_ENV: text };
    for (const load of [
      () => loadSettings(ControlPlaneSettings, environment),
      () => loadSettings(GatewaySettings, environment),
    ]) {
      expect(faultsOf(load)).toMatchObject([{ variable: 'NODE_ENV' }]);
    }
  });
});

describe('variables that only go together', () => {
  it('direct TLS needs both files', () => {
    const faults = faultsOf(() => loadSettings(ControlPlaneSettings, { ...DAEMON, ...CONTROL_PLANE_KEYS }));
    expect(faults.map(({ variable }) => variable)).toEqual(['TLS_CERT_FILE', 'TLS_KEY_FILE']);
  });

  it('a TLS proxy needs to be trusted', () => {
    expect(controlPlaneFaults({ TLS_MODE: 'proxy' })).toMatchObject([{ variable: 'TRUSTED_PROXIES' }]);
    for (const TRUSTED_PROXIES of ['0.0.0.0/0', '10.0.0.0/8,::/0', '0.0.0.0/1,128.0.0.0/1']) {
      const faults = [{ variable: 'TRUSTED_PROXIES', fault: expect.stringContaining('every address') as string }];
      expect(controlPlaneFaults({ TLS_MODE: 'proxy', TRUSTED_PROXIES })).toMatchObject(faults);
      expect(controlPlaneFaults({ TRUSTED_PROXIES })).toMatchObject(faults);
    }
  });

  it('SMPP over TLS needs a certificate and its key, or neither', () => {
    for (const [given, missing] of [
      ['SMPP_TLS_CERT_FILE', 'SMPP_TLS_KEY_FILE'],
      ['SMPP_TLS_KEY_FILE', 'SMPP_TLS_CERT_FILE'],
    ] as const) {
      const faults = faultsOf(() => loadSettings(GatewaySettings, { ...DAEMON, [given]: FILE }));
      expect(faults).toMatchObject([{ variable: missing }]);
    }
  });

  it('RCS needs an account to send with and a token to believe webhooks by, or neither', () => {
    const both = { RBM_SERVICE_ACCOUNT_FILE: FILE, RBM_CLIENT_TOKEN: 'hunter2-hunter2' };
    expect(loadSettings(GatewaySettings, { ...DAEMON, ...both }).rbm).toEqual({
      baseUrl: 'https://rcsbusinessmessaging.googleapis.com',
      serviceAccountFile: FILE,
      clientToken: both.RBM_CLIENT_TOKEN,
    });
    for (const [missing, given] of [
      ['RBM_SERVICE_ACCOUNT_FILE', 'RBM_CLIENT_TOKEN'],
      ['RBM_CLIENT_TOKEN', 'RBM_SERVICE_ACCOUNT_FILE'],
    ] as const) {
      const faults = faultsOf(() => loadSettings(GatewaySettings, { ...DAEMON, ...both, [missing]: '' }));
      expect(faults).toMatchObject([{ variable: missing, fault: `is not set, but ${given} is` }]);
      expect(new SettingsError(faults).message).not.toContain('hunter2');
    }
  });

  it('the simulator takes what an SMPP bind can carry', () => {
    const faults = faultsOf(() =>
      loadSettings(SimulatorSettings, { SIMULATOR_SYSTEM_ID: 'x'.repeat(16), SIMULATOR_PASSWORD: 'nine char' }),
    );
    expect(faults.map(({ variable }) => variable)).toEqual(['SIMULATOR_SYSTEM_ID', 'SIMULATOR_PASSWORD']);
  });
});
