import { DatabaseHost, Hosts, Production, Text } from './variables.js';

/** Settings of every process that connects to the database in production: daemons and the migration. */
export class ProcessSettings {
  /** Hosts of stores that may be reached without TLS in production, because their network is private. */
  @Hosts('STORES_WITHOUT_TLS')
  readonly storesWithoutTls: readonly string[] = [];

  /** Read by the driver, for a URL without a host. */
  @DatabaseHost('PGHOST')
  readonly defaultDatabaseHost: string | null = null;

  @Text('NODE_DEBUG')
  readonly nodeDebug: string | null = null;

  @Text('NODE_OPTIONS')
  readonly nodeOptions: string | null = null;

  @Text('NODE_TLS_REJECT_UNAUTHORIZED')
  readonly nodeTlsRejectUnauthorized: string | null = null;

  /** Otherwise a new account may send codes to every country, and links to stores, keys and options of Node are not checked. */
  @Production('NODE_ENV')
  readonly production: boolean = false;
}
