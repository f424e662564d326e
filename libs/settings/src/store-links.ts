import { databaseUrls, readRedisUrl } from '@countersign/store-urls';
import ipaddr from 'ipaddr.js';
import { type ConnectionOptions, parse } from 'pg-connection-string';
import type { SettingFault } from './settings-error.js';

/** The stores of a daemon, and the hosts that may be reached without TLS. */
export interface StoreLinks extends DatabaseExceptions {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
}

/** Inputs of the check of a database URL, beside the URL. */
export interface DatabaseExceptions {
  /** Names and addresses that may be reached without TLS. */
  readonly storesWithoutTls: readonly string[];
  /** `PGHOST`: the host of a URL without one, as the driver takes it. Null: `localhost`. */
  readonly defaultDatabaseHost: string | null;
}

const OPT_OUT = 'STORES_WITHOUT_TLS';
const NETWORK_IS_PRIVATE = `where the network to it is private, its host in ${OPT_OUT}`;

/**
 * Stores that are reached over a network without authenticated TLS: passwords, phones and session rows would be sent
 * in clear, or to an impostor (OWASP ASVS 5.0, 12.3.1). Loopback and Unix sockets do not leave the machine.
 */
export function unprotectedStores(stores: StoreLinks): SettingFault[] {
  const { databaseUrl, redisUrl, storesWithoutTls } = stores;
  const database = unprotectedDatabase('DATABASE_URL', databaseUrl, stores);
  if (redisUrl === null) return database;
  const redis = readRedisUrl(redisUrl);
  if (redis === null) return [...database, unreadable('REDIS_URL')];
  // The path of a socket has its slashes encoded.
  const hosts = redis.nodes.map(({ host }) => host.replace(/^%2f/i, '/').toLowerCase());
  const exposed = hosts.find((host) => isExposed(host, storesWithoutTls));
  if (redis.tls || exposed === undefined) return database;
  return [...database, fault('REDIS_URL', exposed, 'without TLS', `rediss://, or ${NETWORK_IS_PRIVATE}`)];
}

/** The same of one database. */
export function unprotectedDatabase(variable: string, url: string, exceptions: DatabaseExceptions): SettingFault[] {
  const { storesWithoutTls, defaultDatabaseHost } = exceptions;
  for (const read of readingsOf(url)) {
    if (read === null) return [unreadable(variable)];
    const hosts = hostsOf(read.host || (defaultDatabaseHost ?? ''));
    const host = hosts.find((each) => isExposed(each, storesWithoutTls));
    const weakness = weaknessOf(read);
    if (host !== undefined && weakness !== null) {
      return [fault(variable, host, weakness, `sslmode=verify-full in it, or ${NETWORK_IS_PRIVATE}`)];
    }
  }
  return [];
}

/**
 * Whether the driver accepts every certificate of the authorities in `sslrootcert`, for any host: `uselibpqcompat` with
 * `sslmode` `require` or `verify-ca`.
 */
export function acceptsAnyName(url: string): boolean {
  return readingsOf(url).some((read) => tlsOf(read)?.checkServerIdentity !== undefined);
}

const isExposed = (host: string, excepted: readonly string[]): boolean =>
  !staysOnMachine(host) && !excepted.includes(host);

const fault = (variable: string, host: string, weakness: string, allowed: string): SettingFault => ({
  variable,
  fault: `leads to ${host} ${weakness}`,
  allowed,
});

const unreadable = (variable: string): SettingFault => ({
  variable,
  fault: 'has a value (not shown) that the driver cannot read, or names a file of TLS that this process cannot read',
  allowed: 'a URL of PostgreSQL; sslrootcert, sslcert and sslkey in it are paths of readable files',
});

/**
 * A database URL as the driver reads it (pg-connection-string); null if it cannot. The driver gets a URL with `options`
 * as WHATWG writes it (`connectionSettings` of libs/postgres), and reads one with a space or a bare percent sign differently.
 */
const readingsOf = (url: string): (ConnectionOptions | null)[] =>
  (databaseUrls(url) ?? [url]).flatMap((each) => [each, new URL(each).href]).map(readOne);

function readOne(url: string): ConnectionOptions | null {
  try {
    return parse(url);
  } catch {
    return null; // the error holds parts of the URL
  }
}

interface TlsOptions {
  readonly rejectUnauthorized?: boolean;
  /** Set to a function that accepts every name. */
  readonly checkServerIdentity?: () => void;
}

/** The options of TLS that the driver makes of `sslmode` and the files; null without these parameters. */
function tlsOf(read: ConnectionOptions | null): TlsOptions | null {
  return typeof read?.ssl === 'object' ? read.ssl : null;
}

/** Modes in which the driver verifies the certificate (node-postgres 8). */
const VERIFYING: readonly unknown[] = ['require', 'verify-ca', 'verify-full'];

/** The lack of authenticated TLS of a connection, or null. */
function weaknessOf(read: ConnectionOptions): string | null {
  const { ssl } = read;
  const mode = read['sslmode'];
  if (ssl === 'no-verify' || mode === 'no-verify') return 'by TLS that does not verify the server (no-verify)';
  // The next version of the driver reads the other modes as libpq does, which need no TLS.
  if (mode && !VERIFYING.includes(mode)) return 'without TLS, or with it as the server likes (sslmode)';
  if (tlsOf(read)?.rejectUnauthorized === false) {
    return 'by TLS that does not verify the server (uselibpqcompat without sslrootcert)';
  }
  return ssl === true || tlsOf(read) !== null ? null : 'without TLS';
}

/** The driver takes a list for one name; each of its entries is judged. A text that begins with a slash is a socket's directory. */
const hostsOf = (text: string): string[] => (text.startsWith('/') ? [text] : text.toLowerCase().split(','));

/** Without a host the drivers use `localhost`. */
function staysOnMachine(host: string): boolean {
  if (host === '' || host === 'localhost' || host.startsWith('/')) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
