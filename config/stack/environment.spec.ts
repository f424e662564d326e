import { describe, expect, it } from 'vitest';
import { certificateHosts, environmentOf, placesOf } from './environment.mjs';
import { listenersOf } from './ports.mjs';

const places = (env: Record<string, string> = {}) => placesOf(env, listenersOf(env));

const environment = (env: Record<string, string | undefined>, redisUrl?: string) =>
  environmentOf({
    env,
    dataDir: '/data',
    places: places(),
    secrets: { masterKey: 'm', entropyKeys: '1:e', adminKey: 'a', simulatorPassword: 's' },
    stores: { databaseUrl: 'postgres://made', redisUrl },
    certificates: { certFile: '/data/server.pem', keyFile: '/data/server.key' },
  });

describe('the places of a run', () => {
  it('are the usual ones unless told', () => {
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
  it('has what this run made, and lets the user have the last word', () => {
    expect(environment({}, 'redis://made')).toMatchObject({
      NODE_ENV: 'development',
      COUNTERSIGN_MASTER_KEY: 'm',
      WEBHOOK_ALLOW_HTTP: 'true',
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

  it('takes an empty variable for one that is not set', () => {
    const made = environment({ REDIS_URL: '', COUNTERSIGN_ADMIN_KEY: '' });
    expect(made).not.toHaveProperty('REDIS_URL');
    expect(made['COUNTERSIGN_ADMIN_KEY']).toBe('a');
  });
});
