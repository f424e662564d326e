/** Timeout for a connection, pooled or new. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** Client side: frees the slot even when the server hangs and cannot enforce its own timeout. */
export const QUERY_TIMEOUT_MS = 3_000;
/** Server side: stops a slow statement. Shorter than the client's timeout, so that the connection stays usable. */
export const STATEMENT_TIMEOUT_MS = 2_500;
/** Releases the locks of a transaction whose client is silent. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
/** Connections are replaced after this time, so that a moved server or changed address is noticed. */
export const CONNECTION_LIFETIME_SECONDS = 1_800;
export const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Every statement is planned for its own parameters: a generic plan locks all partitions of a table, a custom plan
 * only those within its id bounds. Times are read and written in UTC.
 */
const SESSION_OPTIONS = '-c plan_cache_mode=force_custom_plan -c timezone=UTC';

export interface ConnectionSettings {
  readonly connectionString: string;
  /** Command-line options of the server process, as libpq's `options`. */
  readonly options: string;
}

/**
 * Separates `options` from a connection URL. In `pg` the URL takes precedence over the configuration, so an
 * operator's `?options=-c…` would silently disable ours.
 */
export function connectionSettings(url: string, ownOptions: string = SESSION_OPTIONS): ConnectionSettings {
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get('options');
  if (theirs === null) return { connectionString: url, options: ownOptions };
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, options: `${theirs} ${ownOptions}` };
}
