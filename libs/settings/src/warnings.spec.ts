import { describe, expect, it } from 'vitest';
import { CONTROL_PLANE, DAEMON } from './environment.fixture.js';
import { ControlPlaneSettings, GatewaySettings, loadSettings } from './index.js';
import { isWideRange } from './whole-space.js';

const PRODUCTION = { ...CONTROL_PLANE, NODE_ENV: 'production' };
const warningsOf = (environment: Record<string, string>): string[] =>
  loadSettings(ControlPlaneSettings, environment).warnings();

describe('warnings of settings', () => {
  it('say that NODE_ENV is not set, in both daemons, and nothing when it is', () => {
    const unnamed = [expect.stringMatching(/^NODE_ENV is not set.*: set NODE_ENV=production/)];
    for (const environment of [{}, { NODE_ENV: '' }]) {
      expect(loadSettings(GatewaySettings, { ...DAEMON, ...environment }).warnings()).toEqual(unnamed);
      expect(warningsOf({ ...CONTROL_PLANE, ...environment })).toEqual(unnamed);
    }
    for (const NODE_ENV of ['production', 'development', 'test']) {
      expect(loadSettings(GatewaySettings, { ...DAEMON, NODE_ENV }).warnings()).toEqual([]);
      expect(warningsOf({ ...CONTROL_PLANE, NODE_ENV })).toEqual([]);
    }
  });

  it('name each range of TRUSTED_PROXIES that is wider than proxies need, in production', () => {
    const TRUSTED_PROXIES = '10.0.0.0/8,64.0.0.0/7,2000::/15';
    expect(warningsOf({ ...PRODUCTION, TRUSTED_PROXIES })).toEqual([
      expect.stringMatching(/^TRUSTED_PROXIES has the range 64\.0\.0\.0\/7, .*: list the addresses/),
      expect.stringMatching(/^TRUSTED_PROXIES has the range 2000::\/15, .*: list the addresses/),
    ]);
    expect(warningsOf({ ...PRODUCTION, NODE_ENV: 'development', TRUSTED_PROXIES })).toEqual([]);
  });

  it.each([
    ['ADMIN_ALLOWED_CIDRS', '0.0.0.0/0', /^ADMIN_ALLOWED_CIDRS holds every address/],
    ['ADMIN_ALLOWED_CIDRS', '10.0.0.0/8,::/0', /^ADMIN_ALLOWED_CIDRS holds every address/],
    ['WEBHOOK_ALLOWED_CIDRS', '::/0', /^WEBHOOK_ALLOWED_CIDRS holds every address/],
    ['WEBHOOK_ALLOWED_CIDRS', '0.0.0.0/1,128.0.0.0/1', /^WEBHOOK_ALLOWED_CIDRS holds every address/],
    ['WEBHOOK_ALLOW_HTTP', 'true', /^WEBHOOK_ALLOW_HTTP=true sends webhooks .* over plain http/],
  ])('say what %s=%s opens, in production', (name, value, warning) => {
    expect(warningsOf({ ...PRODUCTION, [name]: value })).toEqual([expect.stringMatching(warning)]);
    expect(warningsOf({ ...PRODUCTION, NODE_ENV: 'development', [name]: value })).toEqual([]);
  });

  it.each([
    ['ADMIN_ALLOWED_CIDRS', '10.0.0.0/8,2001:db8::/32'],
    ['WEBHOOK_ALLOWED_CIDRS', '10.0.0.0/8'],
    ['WEBHOOK_ALLOW_HTTP', 'false'],
  ])('say nothing of %s=%s', (name, value) => expect(warningsOf({ ...PRODUCTION, [name]: value })).toEqual([]));

  it.each(['COUNTERSIGN_ENTROPY_KEYS', 'COUNTERSIGN_ADMIN_KEY', 'DATABASE_MIGRATION_URL'])(
    'say that a gateway in production is given %s, and not its value',
    (name) => {
      for (const variable of [name, `${name}_FILE`]) {
        const warningsIn = (NODE_ENV: string): string[] =>
          loadSettings(GatewaySettings, { ...DAEMON, NODE_ENV, [variable]: 'hunter2' }).warnings();
        const [warning = '', ...others] = warningsIn('production');
        expect([warning.startsWith(`${name} is given to the gateway`), others]).toEqual([true, []]);
        expect(warning).not.toContain('hunter2');
        expect(warningsIn('development')).toEqual([]);
      }
    },
  );

  it.each([
    ['10.0.0.0/8', false],
    ['10.0.0.0/7', true],
    ['2001:db8::/16', false],
    ['2001:db8::/15', true],
    ['::ffff:0.0.0.0/96', true],
    ['::ffff:10.0.0.0/103', true],
    ['::ffff:10.0.0.0/104', false],
  ])('take %s for wide: %s', (range, isWide) => expect(isWideRange(range)).toBe(isWide));

  it.each([
    ['http://egress.example:3128', 1],
    ['http://user:hunter2@10.0.0.7:3128', 1],
    ['https://egress.example:3128', 0],
    ['http://127.0.0.1:3128', 0],
    ['http://[::1]:3128', 0],
    ['http://localhost:3128', 0],
  ])('of the egress proxy %s are %i', (WEBHOOK_EGRESS_PROXY, count) => {
    const warnings = warningsOf({ ...PRODUCTION, WEBHOOK_EGRESS_PROXY });
    expect(warnings).toHaveLength(count);
    expect(warnings.join('')).not.toContain('hunter2');
    for (const warning of warnings) expect(warning).toMatch(/^WEBHOOK_EGRESS_PROXY is reached by plain http/);
    expect(warningsOf({ ...PRODUCTION, NODE_ENV: 'test', WEBHOOK_EGRESS_PROXY })).toEqual([]);
  });
});
