import { describe, expect, it } from 'vitest';
import { CONTROL_PLANE, DAEMON, faultsOf } from './environment.fixture.js';
import { ControlPlaneSettings, GatewaySettings, loadSettings, MigrationSettings } from './index.js';
import type { SettingFault } from './settings-error.js';

const PRODUCTION = { NODE_ENV: 'production' };
const controlPlane = (changes: Record<string, string>): readonly SettingFault[] =>
  faultsOf(() => loadSettings(ControlPlaneSettings, { ...CONTROL_PLANE, ...PRODUCTION, ...changes }));
const variables = (changes: Record<string, string>): string[] => controlPlane(changes).map(({ variable }) => variable);
const database = (rest: string): string => `postgres://user:p%40ss@${rest}`;

describe('in production', () => {
  it.each([
    ['loopback', database('127.0.0.1:5432/db')],
    ['loopback in IPv6', database('[::1]:5432/db')],
    ['localhost', database('localhost/db')],
    ['a Unix socket', database('%2Fvar%2Frun%2Fpostgresql/db')],
    ['a Unix socket by a parameter', 'postgres:///db?host=/var/run/postgresql'],
    ['verified TLS', database('db.example.com/db?sslmode=verify-full')],
    ['verified TLS, as the driver reads require', database('db.example.com/db?sslmode=require')],
    ['verified TLS by the driver’s own parameter', database('db.example.com/db?ssl=true')],
    [
      'TLS as libpq does it with an authority',
      database('db/x?uselibpqcompat=true&sslmode=require&sslrootcert=/dev/null'),
    ],
  ])('a database is reached over %s', (_way, DATABASE_URL) => {
    expect(controlPlane({ DATABASE_URL })).toEqual([]);
  });

  it.each([
    ['no parameter', database('db.example.com:5432/db'), 'db.example.com', 'without TLS'],
    ['a private address', database('10.0.0.7/db'), '10.0.0.7', 'without TLS'],
    ['an address of IPv6', database('[2001:db8::7]:5432/db'), '2001:db8::7', 'without TLS'],
    ['another name of a loopback', database('localhost.example.com/db'), 'localhost.example.com', 'without TLS'],
    ['a user that looks like loopback', 'postgres://127.0.0.1:x@db/db', 'db', 'without TLS'],
    ['a host by a parameter', database('127.0.0.1/db?host=db.example.com'), 'db.example.com', 'without TLS'],
    ['an empty host by a parameter', database('db.example.com/db?host='), 'db.example.com', 'without TLS'],
    ['ssl=false', database('db/db?ssl=false'), 'db', 'without TLS'],
    ['sslmode=disable', database('db/db?ssl=true&sslmode=disable'), 'db', 'as the server likes'],
    ['sslmode=prefer', database('db/db?sslmode=prefer'), 'db', 'as the server likes'],
    ['a mode that a later one replaces', database('db/db?sslmode=verify-full&sslmode=prefer'), 'db', 'as the server'],
    ['sslmode=no-verify', database('db/db?sslmode=no-verify'), 'db', 'does not verify'],
    ['libpq’s require', database('db/db?uselibpqcompat=true&sslmode=require'), 'db', 'does not verify'],
  ])('a database is refused with %s', (_way, DATABASE_URL, host, weakness) => {
    const [fault, ...others] = controlPlane({ DATABASE_URL });
    expect(others).toEqual([]);
    expect(fault?.variable).toBe('DATABASE_URL');
    expect(fault?.fault).toContain(`leads to ${host} `);
    expect(fault?.fault).toContain(weakness);
    expect(fault?.allowed).toContain('sslmode=verify-full');
    expect(fault?.allowed).toContain('STORES_WITHOUT_TLS');
    expect(JSON.stringify(fault)).not.toMatch(/p%40ss|p@ss/);
  });

  it.each(['postgres:///db', 'postgresql:///db', 'postgres:///db?host='])(
    'a database without a host, %s, is that of PGHOST',
    (DATABASE_URL) => {
      const faults = [{ variable: 'DATABASE_URL', fault: 'leads to db.example.com without TLS' }];
      expect(controlPlane({ DATABASE_URL, PGHOST: 'db.example.com' })).toMatchObject(faults);
      const migration = { ...PRODUCTION, DATABASE_URL, PGHOST: 'db.example.com' };
      expect(faultsOf(() => loadSettings(MigrationSettings, migration))).toMatchObject(faults);
      for (const PGHOST of ['', 'localhost', '/var/run/postgresql']) {
        expect(controlPlane({ DATABASE_URL, PGHOST })).toEqual([]);
      }
      expect(controlPlane({ DATABASE_URL, PGHOST: 'db', STORES_WITHOUT_TLS: 'db' })).toEqual([]);
    },
  );

  it('PGHOST does not count where the URL has a host', () => {
    expect(controlPlane({ DATABASE_URL: database('127.0.0.1/db'), PGHOST: 'db.example.com' })).toEqual([]);
    expect(variables({ DATABASE_URL: database('db/db'), PGHOST: '127.0.0.1' })).toEqual(['DATABASE_URL']);
  });

  it.each([
    ['redis://:secret@127.0.0.1:6379', []],
    ['redis://localhost', []],
    ['redis://[::1]:6379', []],
    ['rediss://:secret@cache.example.com:6380', []],
    ['redis://:secret@cache.example.com:6379', ['REDIS_URL']],
    ['redis://10.0.0.8', ['REDIS_URL']],
  ])('the Redis of %s has the faults %j', (REDIS_URL, expected) => {
    expect(variables({ REDIS_URL })).toEqual(expected);
  });

  it('a host that is listed may do without TLS, and it alone', () => {
    const plain = { DATABASE_URL: database('Postgres:5432/db'), REDIS_URL: 'redis://:x@redis:6379' };
    expect(variables(plain)).toEqual(['DATABASE_URL', 'REDIS_URL']);
    expect(variables({ ...plain, STORES_WITHOUT_TLS: 'postgres, redis' })).toEqual([]);
    expect(variables({ ...plain, STORES_WITHOUT_TLS: 'postgres' })).toEqual(['REDIS_URL']);
    expect(variables({ ...plain, STORES_WITHOUT_TLS: 'postgres.example.com,10.0.0.1' })).toHaveLength(2);
    expect(variables({ ...plain, STORES_WITHOUT_TLS: 'postgres redis' })).toEqual(['STORES_WITHOUT_TLS']);
  });

  it('the gateway refuses as the control plane does', () => {
    const plain = { ...DAEMON, ...PRODUCTION, DATABASE_URL: database('db/db'), REDIS_URL: 'redis://cache' };
    const faults = faultsOf(() => loadSettings(GatewaySettings, plain));
    expect(faults.map(({ variable }) => variable)).toEqual(['DATABASE_URL', 'REDIS_URL']);
  });
});

describe('a migration in production', () => {
  const faults = (changes: Record<string, string>): readonly SettingFault[] =>
    faultsOf(() => loadSettings(MigrationSettings, { ...PRODUCTION, ...changes }));
  const both = {
    DATABASE_MIGRATION_URL: database('db/db'),
    DATABASE_URL: database('other/db'),
  };

  it('reaches the database of its own URL over TLS alone', () => {
    expect(faults(both)).toMatchObject([{ variable: 'DATABASE_MIGRATION_URL', fault: 'leads to db without TLS' }]);
    expect(faults({ DATABASE_URL: database('db/db') })).toMatchObject([{ variable: 'DATABASE_URL' }]);
    expect(faults({ ...both, STORES_WITHOUT_TLS: 'db' })).toEqual([]);
    expect(faults({ ...both, NODE_ENV: 'development' })).toEqual([]);
    expect(faults({ ...both, DATABASE_MIGRATION_URL: database('db/db?sslmode=verify-full') })).toEqual([]);
  });
});

describe('in development', () => {
  it('stores are reached as they are named', () => {
    const plain = { DATABASE_URL: database('db/db'), REDIS_URL: 'redis://cache', NODE_ENV: '' };
    expect(controlPlane(plain)).toEqual([]);
  });
});
