import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONTROL_PLANE, controlPlaneFaults } from './environment.fixture.js';
import { ControlPlaneSettings, loadSettings } from './index.js';
import { editDistance } from './known-names.js';

describe('a name that is not known', () => {
  it.each([
    ['COUNTERSIGN_MASTERKEY', 'COUNTERSIGN_MASTER_KEY'],
    ['COUNTERSIGN_ENTROPY_KEY', 'COUNTERSIGN_ENTROPY_KEYS'],
    ['CONTROL_PLANE_PROT', 'CONTROL_PLANE_PORT'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['redis_url', 'REDIS_URL'],
    ['WEBHOOK-ALLOW-HTTP', 'WEBHOOK_ALLOW_HTTP'],
    ['RBM_CLIENT_TOKEN_FLIE', 'RBM_CLIENT_TOKEN_FILE'],
    ['GATEWAY_SMPP_TLSPORT', 'GATEWAY_SMPP_TLS_PORT'],
  ])('%s is refused, and %s said to be meant', (variable, meant) => {
    const faults = controlPlaneFaults({ [variable]: 'x' });
    expect(faults).toEqual([{ variable, fault: 'is not known', allowed: `${meant}, if that is meant` }]);
  });

  it('is refused wherever it has our prefix', () => {
    const [fault, ...others] = controlPlaneFaults({ COUNTERSIGN_WHATEVER: 'x' });
    expect(others).toEqual([]);
    expect(fault?.variable).toBe('COUNTERSIGN_WHATEVER');
    expect(fault?.allowed).toContain('COUNTERSIGN_MASTER_KEY');
  });

  it.each([
    'PATH',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'NODE_EXTRA_CA_CERTS',
    'HOME',
    'HOSTNAME',
    'PORT',
    'HOST',
    'LOG_FORMAT',
    'POSTGRES_PASSWORD',
    'REDIS_PASSWORD',
    'PGHOST',
    'NODE_OPTIONS',
    'NODE_COMPILE_CACHE',
    'npm_config_loglevel',
    'SIMULATOR_HTTP_PORT',
    'COUNTERSIGN_DATA_DIR',
  ])('is left alone where it is another’s: %s', (variable) => {
    expect(controlPlaneFaults({ [variable]: '1' })).toEqual([]);
  });

  it('is left alone where it is empty', () => {
    expect(controlPlaneFaults({ COUNTERSIGN_WHATEVER: '' })).toEqual([]);
  });
});

describe('what Kubernetes injects for services', () => {
  it.each([
    ['COUNTERSIGN_SERVICE_HOST', '10.0.0.1'],
    ['COUNTERSIGN_SERVICE_PORT', '8443'],
    ['COUNTERSIGN_SERVICE_PORT_HTTPS', '8443'],
    ['COUNTERSIGN_PORT', 'tcp://10.0.0.1:8443'],
    ['COUNTERSIGN_PORT_8443_TCP', 'tcp://10.0.0.1:8443'],
    ['COUNTERSIGN_PORT_8443_TCP_ADDR', '10.0.0.1'],
    ['CONTROL_PLANE_PORT', 'tcp://10.0.0.1:9443'],
    ['CONTROL_PLANE_SERVICE_HOST', '10.0.0.1'],
  ])('is ignored: %s=%s', (variable, value) => {
    expect(loadSettings(ControlPlaneSettings, { ...CONTROL_PLANE, [variable]: value }).port).toBe(8443);
  });
});

describe('the distance of two names', () => {
  it('is symmetric, 0 for the same alone, and at most one for each fault', () => {
    const name = fc.string({ unit: fc.constantFrom('A', 'B', '_'), maxLength: 12 });
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
        expect(editDistance(a, `${a}${b}`)).toBeLessThanOrEqual(b.length);
      }),
    );
    expect(editDistance('PORT', 'PROT')).toBe(1);
  });
});
