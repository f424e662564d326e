import ipaddr from 'ipaddr.js';
import type { SettingFault } from './settings-error.js';

/** The stores of a daemon, and the hosts that may be reached without TLS. */
export interface StoreLinks extends DatabaseExceptions {
  readonly databaseUrl: string;
  readonly redisUrl: string | null;
}

/** What the check of a database URL depends on beside the URL. */
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
  if (redisUrl === null || redisUrl.startsWith('rediss')) return database;
  const redis = hostsIn(redisUrl).find((host) => isExposed(host, storesWithoutTls));
  if (redis === undefined) return database;
  return [...database, fault('REDIS_URL', redis, 'without TLS', `rediss://, or ${NETWORK_IS_PRIVATE}`)];
}

/** The same of one database. */
export function unprotectedDatabase(variable: string, url: string, exceptions: DatabaseExceptions): SettingFault[] {
  const { storesWithoutTls, defaultDatabaseHost } = exceptions;
  const hosts = hostsOfDatabase(url).map((host) => (host === '' ? (defaultDatabaseHost ?? '').toLowerCase() : host));
  const host = hosts.find((each) => isExposed(each, storesWithoutTls));
  const weakness = weaknessOfDatabase(url);
  if (host === undefined || weakness === null) return [];
  return [fault(variable, host, weakness, `sslmode=verify-full in it, or ${NETWORK_IS_PRIVATE}`)];
}

const isExposed = (host: string, excepted: readonly string[]): boolean =>
  !staysOnMachine(host) && !excepted.includes(host);

const fault = (variable: string, host: string, weakness: string, allowed: string): SettingFault => ({
  variable,
  fault: `leads to ${host} ${weakness}`,
  allowed,
});

/** Modes in which the driver verifies the certificate (node-postgres 8). */
const VERIFYING: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);

/** The lack of authenticated TLS in a PostgreSQL URL, or null. Parameters as parsed by pg-connection-string. */
function weaknessOfDatabase(url: string): string | null {
  const parameters = parametersOf(url);
  const mode = parameters.get('sslmode');
  if (mode === undefined) {
    const isOn = ['true', '1'].includes(parameters.get('ssl') ?? '') || parameters.get('sslnegotiation') === 'direct';
    return isOn ? null : 'without TLS';
  }
  if (mode === 'no-verify') return 'by TLS that does not verify the server (sslmode=no-verify)';
  if (!VERIFYING.has(mode)) return 'without TLS, or with it as the server likes (sslmode)';
  const asLibpq = parameters.get('uselibpqcompat') === 'true' && mode === 'require' && !parameters.has('sslrootcert');
  return asLibpq ? 'by TLS that does not verify the server (uselibpqcompat without sslrootcert)' : null;
}

/**
 * A host in the parameters goes before the one in the URL, unless it is empty; what begins with a slash is the directory of
 * a socket.
 */
const hostsOfDatabase = (url: string): string[] => {
  const host = parametersOf(url).get('host') ?? '';
  return host === '' ? hostsIn(url) : host.split(',');
};

/** Of a repeated parameter the last one counts. */
const parametersOf = (url: string): ReadonlyMap<string, string> =>
  new Map(new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? ''));

/** The hosts of a URL; some schemes allow several (`redis+sentinel://h1:26379,h2:26379/name`). */
function hostsIn(url: string): string[] {
  const [, authority = ''] = /^[^:]+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? [];
  return authority.split(',').map((entry) => decodeURIComponent(withoutPort(entry)).toLowerCase());
}

const withoutPort = (entry: string): string => /^\[(.*)\]/.exec(entry)?.[1] ?? entry.replace(/:[0-9]*$/, '');

/** Without a host the driver uses `localhost`. */
function staysOnMachine(host: string): boolean {
  if (host === '' || host === 'localhost' || host.startsWith('/')) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
