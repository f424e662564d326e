/** To get a connection, from the pool or new. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** Client side: frees the slot even when the server is frozen and cannot keep its own time. */
export const QUERY_TIMEOUT_MS = 3_000;
/** Server side: a slow statement stops working for nobody. Shorter than the client's, so that the connection lives on. */
export const STATEMENT_TIMEOUT_MS = 2_500;
/** A transaction whose owner went silent gives its locks back. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
/** Connections are made anew after this long, so that a moved server or changed address is found. */
export const CONNECTION_LIFETIME_SECONDS = 1_800;
export const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Every statement is planned for its own parameters: a generic plan locks all partitions of a table, a custom one only
 * those that its id bounds leave. Times are read and written in UTC.
 */
const SESSION_OPTIONS = '-c plan_cache_mode=force_custom_plan -c timezone=UTC';

export interface ConnectionSettings {
  readonly connectionString: string;
  /** Command-line options of the server process, as libpq's `options`. */
  readonly options: string;
}

/**
 * Splits `options` off a connection URL. In `pg` the URL wins over the configuration beside it, so an operator's
 * `?options=-c…` would silently switch off ours.
 */
export function connectionSettings(url: string, ownOptions: string = SESSION_OPTIONS): ConnectionSettings {
  const parsed = new URL(url);
  const theirs = parsed.searchParams.get('options');
  if (theirs === null) return { connectionString: url, options: ownOptions };
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, options: `${theirs} ${ownOptions}` };
}
