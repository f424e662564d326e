import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { CONTROL_PLANE, faultsOf } from './environment.fixture.js';
import { ControlPlaneSettings, loadSettings, MigrationSettings } from './index.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-database-tls-'));
const CA = path.join(folder, 'ca.pem');
writeFileSync(CA, 'an authority');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIBPQ = 'uselibpqcompat=true';
type Verdict = 'accepted' | 'refused';

/** After `postgres://u:p@`. */
const SPELLINGS: readonly (readonly [string, Verdict])[] = [
  ['db.example/x', 'refused'],
  ['db.example/x?ssl=true', 'accepted'],
  ['db.example/x?ssl=1', 'accepted'],
  ['db.example/x?ssl=0', 'refused'],
  ['db.example/x?ssl=', 'refused'],
  ['db.example/x?ssl=no-verify', 'refused'],
  ['db.example/x?SSLMODE=verify-full', 'refused'],
  ['db.example/x?sslmode=', 'refused'],
  ['db.example/x?ssl=true&sslmode=', 'accepted'],
  ['db.example/x?sslmode=disable', 'refused'],
  ['db.example/x?sslmode=allow', 'refused'],
  ['db.example/x?sslmode=prefer', 'refused'],
  ['db.example/x?sslmode=require', 'accepted'],
  ['db.example/x?sslmode=verify-ca', 'accepted'],
  ['db.example/x?sslmode=verify-full', 'accepted'],
  ['db.example/x?sslmode=verify%2Dfull', 'accepted'],
  ['db.example/x?sslmode=no-verify', 'refused'],
  ['db.example/x?sslmode=verify-full&sslmode=no-verify', 'refused'],
  ['db.example/x?sslmode=verify-full&ssl\tmode=no-verify', 'refused'],
  ['db.example/x?sslmode=verify-full&ssl=no-verify', 'accepted'],
  ['db.example/x?sslnegotiation=direct', 'accepted'],
  ['db.example/x?ssl=no-verify&sslnegotiation=direct', 'refused'],
  ['db.example/x?ssl=0&sslnegotiation=direct', 'refused'],
  ['db.example/x#?sslmode=verify-full', 'refused'],
  ['db.example/x?a=b#&sslmode=verify-full', 'refused'],
  ['db.example/a b?ssl%6Dode=verify-full', 'refused'],
  [`db.example/x?${LIBPQ}&sslmode=require`, 'refused'],
  [`db.example/x?${LIBPQ}&sslmode=require&sslrootcert=`, 'refused'],
  [`db.example/x?${LIBPQ}&sslmode=require&sslrootcert=${CA}`, 'accepted'],
  [`db.example/x?${LIBPQ}&sslmode=require&sslrootcert=${CA}&sslrootcert=`, 'refused'],
  [`db.example/x?${LIBPQ}&sslmode=verify-ca`, 'refused'],
  [`db.example/x?${LIBPQ}&sslmode=verify-ca&sslrootcert=${CA}`, 'accepted'],
  [`db.example/x?${LIBPQ}&sslmode=verify-full`, 'accepted'],
  [`db.example/x?${LIBPQ}&sslmode=prefer&sslrootcert=${CA}`, 'refused'],
  ['db.example/x?uselibpqcompat=1&sslmode=require', 'accepted'],
  ['db.example/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem', 'refused'],
  [`db.example/x?sslrootcert=${CA}`, 'accepted'],
  ['127.0.0.1/x', 'accepted'],
  ['127.0.0.1/x?host=db.example', 'refused'],
  ['127.0.0.1/x?host=', 'accepted'],
  ['127.0.0.1/x?host=127.0.0.1,db.example', 'refused'],
  ['127.0.0.1/x?hostaddr=203.0.113.7', 'accepted'],
  ['127.0.0.1/x?h\tost=db.example', 'refused'],
  ['db.example/x?host=127.0.0.1', 'accepted'],
  ['db.example/x?hostaddr=127.0.0.1', 'refused'],
  ['db.example/x?host=/run/postgresql', 'accepted'],
  ['%2Frun%2Fpostgresql/x', 'accepted'],
  ['%2Frun%2Fpostgresql/x?host=db.example', 'refused'],
  ['[::1]/x', 'accepted'],
  ['[::ffff:127.0.0.1]/x', 'accepted'],
  ['[2001:db8::7]/x', 'refused'],
  ['0.0.0.0/x', 'refused'],
  ['127.0.0.1,db.example/x', 'refused'],
  ['localhost.example/x', 'refused'],
  ['LOCALHOST/x', 'accepted'],
];

const production = (DATABASE_URL: string, more: Record<string, string> = {}): ReturnType<typeof faultsOf> =>
  faultsOf(() =>
    loadSettings(ControlPlaneSettings, { ...CONTROL_PLANE, NODE_ENV: 'production', DATABASE_URL, ...more }),
  );

interface Link {
  readonly staysOnMachine: boolean;
  readonly isVerified: boolean;
}

/** The connection that the driver would make of a URL alone; null where it refuses to. */
function linkOf(connectionString: string): Link | null {
  try {
    const { host, ssl } = new pg.Client({ connectionString });
    const options: unknown = ssl;
    const isObject = typeof options === 'object' && options !== null;
    const accepted = isObject && Reflect.get(options, 'rejectUnauthorized') === false;
    return {
      staysOnMachine: /^(?:\/|localhost$|127\.|::1$|::ffff:(?:127|7f))/i.test(host),
      isVerified: options === true || (isObject && !accepted),
    };
  } catch {
    return null;
  }
}

describe('in production a database beyond loopback is reached over TLS that verifies it', () => {
  it.each(SPELLINGS)('%s: %s', (spelling, verdict) => {
    const url = `postgres://u:p@${spelling}`;
    const faults = production(url);
    expect(faults.map(({ variable }) => variable)).toEqual(verdict === 'accepted' ? [] : ['DATABASE_URL']);
    expect(JSON.stringify(faults)).not.toContain('u:p@');
    const migration = { NODE_ENV: 'production', DATABASE_MIGRATION_URL: url };
    expect(faultsOf(() => loadSettings(MigrationSettings, migration))).toHaveLength(faults.length);
    // An accepted URL, and the form that a URL with `options` gets, must be one that the driver protects.
    for (const text of verdict === 'accepted' ? [url, new URL(url).href] : []) {
      const link = linkOf(text);
      expect(link === null || link.staysOnMachine || link.isVerified, JSON.stringify(link)).toBe(true);
    }
  });

  it.each(['disable', 'prefer', 'no-verify', 'verify-full'])('whatever PGSSLMODE=%s says', (PGSSLMODE) => {
    const before = process.env['PGSSLMODE'];
    process.env['PGSSLMODE'] = PGSSLMODE;
    try {
      expect(linkOf('postgres://u:p@db.example/x?sslmode=verify-full')?.isVerified).toBe(true);
      expect(production('postgres://u:p@db.example/x?sslmode=verify-full', { PGSSLMODE })).toEqual([]);
      expect(production('postgres://u:p@db.example/x', { PGSSLMODE })).toMatchObject([{ variable: 'DATABASE_URL' }]);
    } finally {
      if (before === undefined) delete process.env['PGSSLMODE'];
      else process.env['PGSSLMODE'] = before;
    }
  });

  it('refuses to run with verification turned off for the whole process', () => {
    const off = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const fault = [{ variable: 'NODE_TLS_REJECT_UNAUTHORIZED' }];
    expect(production('postgres://u:p@db.example/x?sslmode=verify-full', off)).toMatchObject(fault);
    const migration = { NODE_ENV: 'production', DATABASE_URL: 'postgres://u:p@127.0.0.1/x', ...off };
    expect(faultsOf(() => loadSettings(MigrationSettings, migration))).toMatchObject(fault);
  });

  it('warns of authorities whose every certificate is accepted for any host', () => {
    const warnings = (parameters: string): string[] =>
      loadSettings(ControlPlaneSettings, {
        ...CONTROL_PLANE,
        NODE_ENV: 'production',
        DATABASE_URL: `postgres://u:p@db.example/x?${parameters}&sslrootcert=${CA}`,
      }).warnings();
    for (const mode of ['require', 'verify-ca']) {
      expect(warnings(`${LIBPQ}&sslmode=${mode}`)).toEqual([expect.stringMatching(/^DATABASE_URL accepts every cert/)]);
    }
    expect(warnings(`${LIBPQ}&sslmode=verify-full`)).toEqual([]);
    expect(warnings('sslmode=require')).toEqual([]);
  });
});

describe('in production a Redis beyond loopback is reached over TLS', () => {
  it.each([
    ['redis://cache.example', 'refused'],
    ['redis://cache.example?tls=true', 'refused'],
    ['redis://cache.example?family=6', 'refused'],
    ['redis://127.0.0.1?host=cache.example', 'accepted'],
    ['redis://127.0.0.1,cache.example', 'refused'],
    ['redis://h1:26379,h2:26379/mymaster', 'refused'],
    ['redis+sentinel://127.0.0.1:26379/mymaster', 'accepted'],
    ['redis+sentinel://127.0.0.1:26379,cache.example/mymaster', 'refused'],
    ['rediss+sentinel://cache.example/mymaster', 'accepted'],
    ['redis+cluster://127.0.0.1:6379,cache.example:6379', 'refused'],
    ['rediss+cluster://cache.example:6379', 'accepted'],
    ['redis:/\t/cache.example', 'refused'],
    ['redis://127.0.0.1\n.example', 'refused'],
    ['redis://%2Frun%2Fredis.sock', 'accepted'],
    ['redis://[::1]:6379', 'accepted'],
    ['redis:///0', 'accepted'],
    ['rediss://cache.example', 'accepted'],
    ['REDISS://cache.example', 'accepted'],
    ['rediss://cache.example?tls=false', 'accepted'],
  ])('%j: %s', (REDIS_URL, verdict) => {
    const faults = production('postgres://127.0.0.1/x', { REDIS_URL });
    expect(faults.map(({ variable }) => variable)).toEqual(verdict === 'accepted' ? [] : ['REDIS_URL']);
  });
});
