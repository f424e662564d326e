import { describe, expect, it } from 'vitest';
import { certificateHosts, demoEnvironmentOf, environmentFor, environmentOf, placesOf } from './environment.mjs';
import { listenersOf } from './ports.mjs';

const places = (env: Record<string, string> = {}) => placesOf(env, listenersOf(env));

const environment = (env: Record<string, string | undefined>, redisUrl?: string) =>
  environmentOf({
    env,
    dataDir: '/data',
    places: places(
      Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    ),
    secrets: { masterKey: 'm', entropyKeys: '1:e', adminKey: 'a', simulatorPassword: 's', rbmClientToken: 't' },
    stores: { databaseUrl: 'postgres://made', redisUrl },
    certificates: { certFile: '/data/server.pem', keyFile: '/data/server.key' },
    serviceAccountFile: '/data/rbm.json',
  });

describe('the places of a run', () => {
  it('are the default ones unless set', () => {
    expect(places()).toMatchObject({
      baseUrl: 'https://127.0.0.1:8443',
      controlPlaneOps: 'http://127.0.0.1:9464',
      gatewayOps: 'http://127.0.0.1:9465',
      simulator: 'http://127.0.0.1:8090',
      smppPort: 2775,
    });
  });

  it.each([
    [{ CONTROL_PLANE_PORT: '9000' }, 'https://127.0.0.1:9000'],
    [{ CONTROL_PLANE_HOST: '0.0.0.0' }, 'https://127.0.0.1:8443'],
    [{ CONTROL_PLANE_HOST: '::' }, 'https://[::1]:8443'],
    [{ PUBLIC_BASE_URL: 'https://verify.example/' }, 'https://verify.example'],
  ])('with %o have the base URL %s', (env: Record<string, string>, baseUrl) => {
    expect(places(env).baseUrl).toBe(baseUrl);
  });
});

describe('the certificate of a run', () => {
  it('is for this machine and for the names it was given, but not for "every address"', () => {
    const hosts = certificateHosts({
      CONTROL_PLANE_HOST: '0.0.0.0',
      GATEWAY_SMPP_HOST: 'smpp.example',
      PUBLIC_BASE_URL: 'https://verify.example:9000',
    });
    expect(hosts).toEqual(expect.arrayContaining(['localhost', '127.0.0.1', '::1', 'smpp.example', 'verify.example']));
    expect(hosts).not.toContain('0.0.0.0');
  });
});

describe('the environment of the apps', () => {
  it('has the values of this run, unless the user set others', () => {
    expect(environment({}, 'redis://made')).toMatchObject({
      NODE_ENV: 'development',
      COUNTERSIGN_MASTER_KEY: 'm',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_HOST_PER_SECOND: '10000',
      MO_SENDER_PER_SECOND: '10000',
      DATABASE_URL: 'postgres://made',
      REDIS_URL: 'redis://made',
    });
    expect(environment({ COUNTERSIGN_MASTER_KEY: 'mine', WEBHOOK_ALLOW_HTTP: 'false' })).toMatchObject({
      COUNTERSIGN_MASTER_KEY: 'mine',
      WEBHOOK_ALLOW_HTTP: 'false',
    });
  });

  it('gives no certificate to the key of another', () => {
    const mixed = environment({ TLS_CERT_FILE: '/mine.pem' });
    expect(mixed).not.toHaveProperty('TLS_KEY_FILE');
    expect(mixed).toMatchObject({ TLS_CERT_FILE: '/mine.pem', SMPP_TLS_KEY_FILE: '/data/server.key' });
  });

  it('sends cards to the simulator, which reports their results to the gateway', () => {
    expect(environment({ GATEWAY_HTTP_PORT: '9081' })).toMatchObject({
      RBM_BASE_URL: 'http://127.0.0.1:8090',
      RBM_SERVICE_ACCOUNT_FILE: '/data/rbm.json',
      RBM_CLIENT_TOKEN: 't',
      SIMULATOR_RBM_SERVICE_ACCOUNT_FILE: '/data/rbm.json',
      SIMULATOR_RBM_CLIENT_TOKEN: 't',
      SIMULATOR_RBM_WEBHOOK_URL: 'http://127.0.0.1:9081/rcs/webhook',
      RCS_UNREACHABLE_SECONDS: '0',
    });
    expect(environment({ RCS_UNREACHABLE_SECONDS: '60' })).toMatchObject({ RCS_UNREACHABLE_SECONDS: '60' });
  });

  it.each(['RBM_BASE_URL', 'RBM_SERVICE_ACCOUNT_FILE', 'RBM_CLIENT_TOKEN'])(
    'gives no card to the simulator when %s names another service',
    (variable) => {
      const own = environment({ [variable]: 'mine' });
      expect(Object.keys(own).filter((name) => name.includes('RBM'))).toEqual([variable]);
    },
  );

  it('gives the demo site its account and the address of the product on this machine', () => {
    const demo = { apiKey: 'csk_live_x', accountId: 'acct_x', brandId: 'brd_x', webhookSecret: 'whsec_x' };
    const environmentWith = (env: Record<string, string>) =>
      demoEnvironmentOf({ places: places(env), caFile: '/ca.pem', demo });
    expect(environmentWith({ PUBLIC_BASE_URL: 'https://verify.example' })).toEqual({
      SIMULATOR_DEMO_BASE_URL: 'https://127.0.0.1:8443',
      SIMULATOR_DEMO_CA_FILE: '/ca.pem',
      SIMULATOR_DEMO_API_KEY: 'csk_live_x',
      SIMULATOR_DEMO_ACCOUNT_ID: 'acct_x',
      SIMULATOR_DEMO_BRAND_ID: 'brd_x',
      SIMULATOR_DEMO_WEBHOOK_SECRET: 'whsec_x',
    });
    expect(environmentWith({ PUBLIC_BASE_URL: 'https://verify.example', TLS_MODE: 'proxy' })).toMatchObject({
      SIMULATOR_DEMO_BASE_URL: 'https://verify.example',
    });
  });

  it('gives each process the secrets that it needs, and no others', () => {
    const given = { DATABASE_MIGRATION_URL: 'postgres://owner', WEBHOOK_EGRESS_PROXY: 'http://user:word@proxy' };
    const all = { ...environment({}, 'redis://made'), ...given };
    const secretsOf = (name: 'seed' | 'control-plane' | 'gateway' | 'simulator'): string[] =>
      Object.keys(environmentFor(all, name))
        .filter((variable) =>
          /^(COUNTERSIGN_.*KEYS?|DATABASE_.*|REDIS_URL|.*_TOKEN|.*_PASSWORD|.*_PROXY)$/.test(variable),
        )
        .sort();
    const ofGateway = ['COUNTERSIGN_MASTER_KEY', 'DATABASE_URL', 'REDIS_URL'];
    const ofControlPlane = ['COUNTERSIGN_ADMIN_KEY', 'COUNTERSIGN_ENTROPY_KEYS', ...ofGateway, 'WEBHOOK_EGRESS_PROXY'];
    expect(secretsOf('gateway')).toEqual([...ofGateway, 'RBM_CLIENT_TOKEN'].sort());
    expect(secretsOf('control-plane')).toEqual(ofControlPlane);
    expect(secretsOf('seed')).toEqual([...ofControlPlane, 'DATABASE_MIGRATION_URL'].sort());
    expect(secretsOf('simulator')).toEqual(['SIMULATOR_PASSWORD', 'SIMULATOR_RBM_CLIENT_TOKEN']);
  });

  it('gives the gateway the URL of its own role, and the seed its name', () => {
    const stores = {
      databaseUrl: 'postgres://app@db',
      gatewayUrl: 'postgres://countersign_gateway@db',
      redisUrl: undefined,
    };
    const all = { ...environment({}), DATABASE_URL: stores.databaseUrl, DATABASE_GATEWAY_ROLE: 'countersign_gateway' };
    expect(environmentFor(all, 'gateway', stores)['DATABASE_URL']).toBe(stores.gatewayUrl);
    expect(environmentFor(all, 'control-plane', stores)['DATABASE_URL']).toBe(stores.databaseUrl);
    expect(environmentFor(all, 'seed', stores)).toMatchObject({ DATABASE_GATEWAY_ROLE: 'countersign_gateway' });
    expect(environmentFor(all, 'gateway', stores)).not.toHaveProperty('DATABASE_GATEWAY_ROLE');
    expect(environmentFor(all, 'gateway')['DATABASE_URL']).toBe(stores.databaseUrl);
  });

  it('takes an empty variable for one that is not set', () => {
    const made = environment({ REDIS_URL: '', COUNTERSIGN_ADMIN_KEY: '' });
    expect(made).not.toHaveProperty('REDIS_URL');
    expect(made['COUNTERSIGN_ADMIN_KEY']).toBe('a');
  });
});
