import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import {
  CONNECT_TIMEOUT_MS,
  CONNECTION_LIFETIME_SECONDS,
  connectionSettings,
  KEEP_ALIVE_DELAY_MS,
  NO_OPTIONS,
  QUERY_TIMEOUT_MS,
  SESSION_TIMEOUTS,
} from './connection-settings.js';
import { classifyError } from './database-errors.js';
import { refuseRoleSettings, resetRoleSettings } from './role-settings.js';

export interface DatabaseOptions {
  readonly url: string;
  /** Maximum number of connections of this process. */
  readonly poolMax: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Called for connections that fail while idle. A failing statement rejects for its caller instead. */
  readonly onError: (error: Error) => void;
}

/** Tracks which connections were opened before the server was last found unavailable, so may still point to it. */
export class Generations {
  #current = 0;
  readonly #of = new WeakMap<object, number>();

  register(client: object): void {
    this.#of.set(client, this.#current);
  }

  isCurrent(client: object): boolean {
    return this.#of.get(client) === this.#current;
  }

  retireAll(): void {
    this.#current++;
  }
}

/** The function of the server that waits for synchronous standbys; its messages are in the server's language. */
const SYNCHRONOUS_WAIT = 'SyncRepWaitForLSN';

/**
 * Connections whose last commit did not wait for the synchronous standby, because an operator cancelled the wait. The server
 * answers such a commit as any other, and only a notice before it says that a failover may lose it.
 */
export class CancelledWaits {
  readonly #clients = new WeakSet<object>();

  watch(client: pg.ClientBase): void {
    client.on('notice', ({ routine }) => {
      if (routine === SYNCHRONOUS_WAIT) this.#clients.add(client);
    });
  }

  /** Whether that happened since the last call. */
  take(client: object): boolean {
    return this.#clients.delete(client);
  }
}

/** pg's pool waits for a promise of `onConnect`; its types do not say so. */
type PoolConfig = Omit<pg.PoolConfig, 'onConnect'> & { readonly onConnect: (client: pg.ClientBase) => Promise<void> };

/** `pooler`: the URL leads to a connection pooler, see `usesPooler`. */
export function dataSourceOptions(
  options: DatabaseOptions,
  { generations, waits }: { readonly generations: Generations; readonly waits: CancelledWaits },
  pooler: boolean,
): DataSourceOptions {
  const { connectionString, ...session } = pooler
    ? connectionSettings(options.url, NO_OPTIONS)
    : { ...connectionSettings(options.url), ...SESSION_TIMEOUTS };
  return {
    type: 'postgres',
    url: connectionString,
    applicationName: options.applicationName,
    synchronize: false,
    logging: false,
    installExtensions: false,
    poolSize: options.poolMax,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: (error: unknown) => {
      options.onError(classifyError(error));
    },
    extra: {
      ...session,
      query_timeout: QUERY_TIMEOUT_MS,
      // Pipelines statements issued together: a round trip costs more than most statements.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
      onConnect: (client) => {
        generations.register(client);
        waits.watch(client);
        // The pool handles errors of idle connections only. A connection that fails between two statements of a
        // transaction emits an error too, which would end the process without a listener; the next statement rejects
        // for the caller.
        client.on('error', () => undefined);
        return pooler ? refuseRoleSettings(client) : resetRoleSettings(client);
      },
    } satisfies PoolConfig,
  };
}

export function poolOf(dataSource: DataSource): pg.Pool {
  const driver: object = dataSource.driver;
  if (!('master' in driver) || !(driver.master instanceof pg.Pool)) throw new Error('TypeORM has no pool of pg');
  return driver.master;
}
