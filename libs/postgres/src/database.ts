import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import {
  CONNECT_TIMEOUT_MS,
  CONNECTION_LIFETIME_SECONDS,
  connectionSettings,
  IDLE_IN_TRANSACTION_TIMEOUT_MS,
  KEEP_ALIVE_DELAY_MS,
  QUERY_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
} from './connection-settings.js';
import { classifyError, DatabaseUnavailable, isReadOnly, isSilence, TransactionConflict } from './database-errors.js';

/** Speaks one statement at a time. A store takes one as an argument: who opens the transaction is its caller. */
export interface Executor {
  /**
   * Runs one statement with `$1`-style parameters and answers its rows. Throws DatabaseUnavailable, or DataError for a
   * refusal of the server. Select `json` columns as `::text`: parsing would lose their key order.
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export type EntityClass = abstract new (...args: never[]) => object;

export interface DatabaseOptions {
  readonly url: string;
  /** Connections of this process at most. */
  readonly poolMax: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** TypeORM entities, for the stores that work row by row. */
  readonly entities: readonly EntityClass[];
  /** Hears of connections that died while idle. A statement that fails tells its own caller instead. */
  readonly onError: (error: Error) => void;
}

/** A statement or a transaction, waiting for a connection and retries included, is answered within this time. */
export const OPERATION_DEADLINE_MS = 2_900;
/** How often a transaction that lost a deadlock or a serialization is run, the first time included. */
export const CONFLICT_ATTEMPTS = 5;
/** Pause before a lost transaction runs again: 0 to this many, times the attempt. */
const CONFLICT_PAUSE_MS = 10;
/** How long closing waits for statements that are still running. */
const CLOSE_TIMEOUT_MS = 5_000;

/** The server gives up first, so that it is known what became of the statement. */
const MAINTENANCE_GRACE_MS = 2_000;

interface TimedQuery extends pg.QueryConfig {
  query_timeout: number;
}

const endsConnection = (error: unknown): boolean => error instanceof DatabaseUnavailable && !error.connectionLives;

/** Keeps what is written to the server until the end of this turn, so that the statements of one moment are one write. */
function holdWrites(client: pg.PoolClient): void {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Turns in which work that waits for nothing has asked for all that it will, or has failed. */
const TURNS_TO_ASK = 8;

/** Throws what the work has failed with by now; none of these turns lets anything be written to the server. */
async function asked(work: Promise<unknown>): Promise<void> {
  for (let turn = 0; turn < TURNS_TO_ASK; turn++) await Promise.race([work, Promise.resolve()]);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Which connections were made before the server was last found to be gone, and so may still point at it. */
class Generations {
  #current = 0;
  readonly #of = new WeakMap<object, number>();

  born(client: object): void {
    this.#of.set(client, this.#current);
  }

  isCurrent(client: object): boolean {
    return this.#of.get(client) === this.#current;
  }

  retireAll(): void {
    this.#current++;
  }
}

function dataSourceOptions(options: DatabaseOptions, generations: Generations): DataSourceOptions {
  const { connectionString, options: sessionOptions } = connectionSettings(options.url);
  return {
    type: 'postgres',
    url: connectionString,
    applicationName: options.applicationName,
    entities: [...options.entities],
    synchronize: false,
    logging: false,
    installExtensions: false,
    poolSize: options.poolMax,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: (error: unknown) => {
      options.onError(classifyError(error));
    },
    extra: {
      options: sessionOptions,
      query_timeout: QUERY_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      // Statements that are asked for together travel together: a round trip costs more than most statements.
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
      onConnect: (client: pg.ClientBase) => {
        generations.born(client);
        // The pool listens to idle connections only. One that dies in use, between two statements of a transaction,
        // emits an error too, and without a listener that ends the process; the next statement tells the caller.
        client.on('error', () => undefined);
      },
    } satisfies pg.PoolConfig,
  };
}

function poolOf(dataSource: DataSource): pg.Pool {
  const driver: object = dataSource.driver;
  if (!('master' in driver) || !(driver.master instanceof pg.Pool)) throw new Error('TypeORM has no pool of pg');
  return driver.master;
}

/**
 * The one door to PostgreSQL: a pool with every deadline set, shared by TypeORM and by statements of our own.
 * Failures come classified: DatabaseUnavailable (try again later) or DataError (the server refused).
 */
export class Database implements Executor {
  readonly #pool: pg.Pool;

  private constructor(
    /** TypeORM's view of the same pool, for repositories and entity metadata. */
    readonly dataSource: DataSource,
    private readonly generations: Generations,
  ) {
    this.#pool = poolOf(dataSource);
  }

  /** Connects once, so that a wrong address is found at boot. Throws DatabaseUnavailable when nobody answers. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const generations = new Generations();
    const dataSource = new DataSource(dataSourceOptions(options, generations));
    try {
      await dataSource.initialize();
    } catch (error) {
      throw classifyError(error);
    }
    return new Database(dataSource, generations);
  }

  /** Connections in use and requests waiting for one: what the metrics show. */
  get poolUse(): { total: number; idle: number; waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#retryConflicts(async (deadlineMs) => {
      const client = await this.#checkOut();
      try {
        const result = await this.#run<Row>(client, text, values, deadlineMs);
        client.release();
        return result.rows;
      } catch (error) {
        client.release(endsConnection(error));
        throw error;
      }
    });
  }

  /**
   * Runs `work` in one READ COMMITTED transaction and commits it, or rolls it back when `work` throws. A lost deadlock
   * or serialization runs `work` again, so it must not have effects outside the transaction. After DatabaseUnavailable
   * it is unknown whether the transaction was committed.
   */
  async transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T> {
    return this.#onOneConnection((client, deadlineMs) => this.#inTransaction(client, work, deadlineMs));
  }

  /**
   * A transaction of two round trips, for work that reads, decides, and then writes: the statements of `write` travel with
   * the commit. It must ask for all of them at once, waiting for nothing before that; what it throws then rolls back, what
   * it throws after its statements were answered comes too late for that. Runs again, and fails, as `transaction` does.
   */
  async readThenWrite<Found, Written>(
    read: (tx: Executor) => Promise<Found>,
    write: (tx: Executor, found: Found) => Promise<Written>,
  ): Promise<Written> {
    return this.#onOneConnection(async (client, deadlineMs) => {
      const { tx, begun, close } = this.#begin(client, deadlineMs);
      try {
        const found = await read(tx);
        await begun;
        const writing = write(tx, found);
        await asked(writing);
        close();
        const committing = this.#commit(client, deadlineMs);
        // It fails with the statements, which say why.
        committing.catch(() => undefined);
        const written = await writing;
        await committing;
        return written;
      } finally {
        close();
      }
    });
  }

  /**
   * A connection of its own for slow work that is not waited for by anybody, such as detaching a partition: each
   * statement may take `timeoutMs`. It is thrown away afterwards, since its timeouts are not those of the pool.
   */
  async maintenance<T>(timeoutMs: number, work: (session: Executor) => Promise<T>): Promise<T> {
    const client = await this.#checkOut();
    try {
      const session: Executor = {
        query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
          (await this.#run<Row>(client, text, values, performance.now() + timeoutMs + MAINTENANCE_GRACE_MS)).rows,
      };
      await session.query(`SELECT set_config('statement_timeout', $1, false)`, [String(timeoutMs)]);
      return await work(session);
    } finally {
      client.release(true);
    }
  }

  /** Ends every connection; waits at most 5 s for statements that are still running. */
  async close(): Promise<void> {
    if (!this.dataSource.isInitialized) return;
    let timer: NodeJS.Timeout | undefined;
    const giveUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([this.dataSource.destroy(), giveUp]);
    clearTimeout(timer);
  }

  async #checkOut(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#pool.connect().catch((error: unknown) => {
        // Whatever keeps us from a connection, a wrong password included, is "not available" to whoever asked.
        const reason = classifyError(error);
        throw reason instanceof DatabaseUnavailable ? reason : new DatabaseUnavailable(reason.message);
      });
      if (this.generations.isCurrent(client)) return client;
      client.release(true);
    }
  }

  /**
   * A server that only reads, or one that is silent for longer than it would let a statement run, is no longer there
   * for the other connections either: they are made anew instead of failing one after the other.
   */
  async #run<Row extends object>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[],
    deadlineMs: number,
  ): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
    const left = Math.ceil(deadlineMs - performance.now());
    if (left <= 0) throw new DatabaseUnavailable('no time left for a statement');
    const query: TimedQuery = { text, values: [...values], query_timeout: left };
    holdWrites(client);
    try {
      return await client.query<Row & pg.QueryResultRow>(query);
    } catch (error) {
      if (isReadOnly(error) || (isSilence(error) && left > STATEMENT_TIMEOUT_MS)) this.generations.retireAll();
      throw classifyError(error);
    }
  }

  async #onOneConnection<T>(work: (client: pg.PoolClient, deadlineMs: number) => Promise<T>): Promise<T> {
    return this.#retryConflicts(async (deadlineMs) => {
      const client = await this.#checkOut();
      try {
        const result = await work(client, deadlineMs);
        client.release();
        return result;
      } catch (error) {
        client.release(endsConnection(error) || !(await this.#rollBack(client, deadlineMs)));
        throw error;
      }
    });
  }

  async #inTransaction<T>(client: pg.PoolClient, work: (tx: Executor) => Promise<T>, deadlineMs: number): Promise<T> {
    const { tx, begun, close } = this.#begin(client, deadlineMs);
    try {
      const result = await work(tx);
      await begun;
      await this.#commit(client, deadlineMs);
      return result;
    } finally {
      close();
    }
  }

  #begin(client: pg.PoolClient, deadlineMs: number): { tx: Executor; begun: Promise<unknown>; close: () => void } {
    let open = true;
    const tx: Executor = {
      query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
        if (!open) throw new Error('this transaction is over');
        return (await this.#run<Row>(client, text, values, deadlineMs)).rows;
      },
    };
    const begun = this.#run(client, 'BEGIN ISOLATION LEVEL READ COMMITTED', [], deadlineMs);
    // Not waited for: it travels with the first statement of the work, and is asked after before the commit.
    begun.catch(() => undefined);
    return { tx, begun, close: () => (open = false) };
  }

  async #commit(client: pg.PoolClient, deadlineMs: number): Promise<void> {
    const { command } = await this.#run(client, 'COMMIT', [], deadlineMs);
    // A transaction whose failed statement was swallowed by its work is rolled back by its COMMIT, without an error.
    if (command !== 'COMMIT') throw new Error('a statement of this transaction had failed: nothing was committed');
  }

  /** False when the connection is of no more use. */
  async #rollBack(client: pg.PoolClient, deadlineMs: number): Promise<boolean> {
    try {
      await this.#run(client, 'ROLLBACK', [], deadlineMs);
      return true;
    } catch {
      return false;
    }
  }

  async #retryConflicts<T>(attempt: (deadlineMs: number) => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + OPERATION_DEADLINE_MS;
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt(deadlineMs);
      } catch (error) {
        if (!(error instanceof TransactionConflict)) throw error;
        const pauseMs = Math.random() * CONFLICT_PAUSE_MS * attempts;
        if (attempts === CONFLICT_ATTEMPTS || performance.now() + pauseMs >= deadlineMs) {
          throw new DatabaseUnavailable(`still in conflict after ${attempts} attempts`, { cause: error });
        }
        await pause(pauseMs);
      }
    }
  }
}
