import type { Duplex } from 'node:stream';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { databaseUrls } from '@countersign/store-urls';
import { parse } from 'pg-connection-string';
import { WritableHost, WritableHostSocket } from './writable-host.js';

/** Timeout for a connection, pooled or new. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** Client side: frees the slot even when the server hangs and cannot enforce its own timeout. */
export const QUERY_TIMEOUT_MS = 3_000;
/** Server side: stops a slow statement. Shorter than the client's timeout, so that the connection stays usable. */
export const STATEMENT_TIMEOUT_MS = 2_500;
/**
 * Of one wait for a lock: short enough that a batch with a locked row can be divided before the deadline of its commands, and longer
 * than `deadlock_timeout` (1 s), so that a deadlock is reported as such and its transaction is run again.
 */
export const LOCK_TIMEOUT_MS = 1_200;
/** Releases the locks of a transaction whose client is silent. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
/** Of every session of a `Database`. */
export const SESSION_TIMEOUTS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
} as const;
/** Connections are replaced after this time, so that a moved server or changed address is noticed. */
export const CONNECTION_LIFETIME_SECONDS = 1_800;
export const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Every statement is planned for its own parameters, unless it is `prepared`: a generic plan locks all partitions of a
 * table, a custom plan only those within its id bounds. `auto` plans a statement without a name for each run. Times are read
 * and written in UTC.
 *
 * The rest are PostgreSQL's defaults. A role may set them for its own later sessions (ALTER ROLE … SET), and options of a
 * connection win over that. `Database` resets the other settings of its role, see role-settings.ts.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: 'auto',
  timezone: 'UTC',
  array_nulls: 'on',
  bytea_output: 'hex',
  datestyle: 'ISO',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  idle_session_timeout: '0',
  intervalstyle: 'postgres',
  lock_timeout: '0',
  row_security: 'on',
  standard_conforming_strings: 'on',
};

const SESSION_OPTIONS = Object.entries(SESSION_SETTINGS)
  .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', String.raw`\ `)}`)
  .join(' ');

export interface ConnectionSettings {
  readonly connectionString: string;
  /** Command-line options of the server process, as libpq's `options`. */
  readonly options: string;
  /** Of a URL with several hosts: opens the connection to the one that takes writes. */
  readonly stream?: () => Duplex;
  /** Of a URL with several hosts and TLS: the certificate of a server may name any of them. */
  readonly ssl?: ConnectionOptions;
}

/** For a pooler, which takes no settings in the startup packet. */
export const NO_OPTIONS = '';

/**
 * Separates `options` from a connection URL. In `pg` the URL takes precedence over the configuration, so an
 * operator's `?options=-c…` would silently disable ours. A URL with several hosts leads to the one that takes writes.
 */
export function connectionSettings(url: string, ownOptions: string = SESSION_OPTIONS): ConnectionSettings {
  const [first = url, ...others] = databaseUrls(url) ?? [];
  const settings = optionsApart(first, ownOptions);
  if (others.length === 0) return settings;
  const urls = [first, ...others].map((each) => optionsApart(each, ownOptions).connectionString);
  const target = new WritableHost(urls, settings.options);
  return { ...settings, ...tlsOfHosts(urls), stream: () => new WritableHostSocket(target) };
}

function optionsApart(url: string, ownOptions: string): Pick<ConnectionSettings, 'connectionString' | 'options'> {
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get('options');
  if (theirs === null) return { connectionString: url, options: ownOptions };
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, options: `${theirs} ${ownOptions}` };
}

/** Parameters of a URL from which the driver makes its TLS options; it would prefer them to the configuration's. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslpassword', 'uselibpqcompat'];

/** The driver compares a certificate with the first host of the URL only. */
function tlsOfHosts(urls: readonly string[]): Pick<ConnectionSettings, 'connectionString' | 'ssl'> {
  const [first = ''] = urls;
  const ssl: unknown = parse(first).ssl;
  if (ssl !== true && (typeof ssl !== 'object' || ssl === null)) return { connectionString: first };
  const parsed = new URL(first);
  for (const name of TLS_PARAMETERS) parsed.searchParams.delete(name);
  const hosts = urls.map((url) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1'));
  return {
    connectionString: parsed.href,
    ssl: {
      checkServerIdentity: (_host, certificate) => identityFault(hosts, certificate),
      ...(ssl === true ? {} : ssl),
    },
  };
}

/** Undefined if the certificate is of one of the hosts. */
const identityFault = (hosts: readonly string[], certificate: PeerCertificate): Error | undefined => {
  const faults = hosts.map((host) => checkServerIdentity(host, certificate));
  return faults.includes(undefined) ? undefined : faults[0];
};
