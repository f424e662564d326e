import pg from 'pg';
import { DataSource } from 'typeorm';
import { CancelledWaits, dataSourceOptions, Generations, poolOf, type DatabaseOptions } from './connection-pool.js';
import { STATEMENT_TIMEOUT_MS } from './connection-settings.js';
import {
  classifyError,
  DatabaseUnavailable,
  isReadOnly,
  isQueryTimeout,
  MissingPartition,
  TransactionConflict,
} from './database-errors.js';
import { BEGIN, BEGIN_OF_POOLER, usesPooler } from './pooler.js';
import { dayStatement, type DayStatement } from './day-statements.js';
import type { Executor, Transactions } from './executor.js';
import { FIND_LARGE, LargePartitions } from './large-partitions.js';
import { hasParsed, hasStalePlan, isLostByPooler, isWithoutPartition, preparedName } from './prepared-statements.js';
import { ReportReads } from './report-reads.js';
import type { Statements } from './statements/statements.js';

/** Each statement is a transaction of its own. */
export type MaintenanceSession = Transactions;

/** Deadline of a statement or a transaction, including the time to get a connection and retries. */
export const OPERATION_DEADLINE_MS = 2_900;
/** Maximum number of runs of a transaction that loses deadlocks or serializations. */
export const CONFLICT_ATTEMPTS = 5;
/** Maximum random pause before such a transaction runs again, multiplied by the attempt. */
const CONFLICT_PAUSE_MS = 10;
/** How long closing waits for running statements. */
const CLOSE_TIMEOUT_MS = 5_000;

/** The server times out first, so that the result of the statement is known. */
const MAINTENANCE_GRACE_MS = 2_000;

/** Of one transaction of a maintenance session, as long as its timeout allows at most. */
const MAINTENANCE_STATEMENTS = 20;

/** A statement that a connection keeps, of a partition or of none. */
type KeptStatement = Pick<DayStatement, 'name' | 'text'> & Partial<DayStatement>;

interface TimedQuery extends pg.QueryConfig {
  query_timeout: number;
}

const endsConnection = (error: unknown): boolean => error instanceof DatabaseUnavailable && !error.connectionLives;

/** Corks the socket until the next tick, so that the statements of one turn are sent in one write. */
function corkUntilNextTick(client: pg.PoolClient): void {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Access to PostgreSQL: a pool with all timeouts set. Failures are classified: DatabaseUnavailable (try again later) or
 * DataError (the server rejected the statement).
 */
export class Database implements Executor {
  /** For statements of reports and lists. */
  readonly reports: Transactions;
  readonly #pool: pg.Pool;
  readonly #missingPartitionListeners: (() => void)[] = [];
  /** Whether connections keep prepared statements. False once a pooler has lost one. */
  #keepsStatements = true;
  readonly #largePartitions = new LargePartitions((names, rows) => this.query(FIND_LARGE, [names, rows]));

  private constructor(
    private readonly dataSource: DataSource,
    private readonly generations: Generations,
    private readonly waits: CancelledWaits,
    /** Connections lead through a pooler, so that a setting holds for one transaction only. */
    private readonly pooler: boolean,
  ) {
    this.#pool = poolOf(dataSource);
    this.reports = new ReportReads(this, this.#pool.options.max);
  }

  /**
   * Connects once, so that a wrong address is found at boot, and looks whether a pooler is in between. Throws DatabaseUnavailable
   * when the connection fails.
   */
  static async open(options: DatabaseOptions): Promise<Database> {
    const [generations, waits] = [new Generations(), new CancelledWaits()];
    const pooler = await usesPooler(options.url);
    const dataSource = new DataSource(dataSourceOptions(options, { generations, waits }, pooler));
    try {
      await dataSource.initialize();
    } catch (error) {
      throw classifyError(error);
    }
    return new Database(dataSource, generations, waits, pooler);
  }

  /** Connections and queued requests of the pool, for metrics. */
  get poolUse(): { total: number; idle: number; waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** Registers a listener called for each statement that found no partition for a row. Must not throw. */
  onMissingPartition(listener: () => void): void {
    this.#missingPartitionListeners.push(listener);
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    if (this.pooler) return this.transaction((tx) => tx.query<Row>(text, values));
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
   * Runs `work` in one READ COMMITTED transaction and commits it, or rolls back when `work` throws. A lost deadlock
   * or serialization runs `work` again, so it must not have effects outside the transaction. After
   * DatabaseUnavailable it is unknown whether the transaction was committed.
   */
  async transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T> {
    return this.#onOneConnection((client, deadlineMs) => this.#inTransaction(client, work, deadlineMs));
  }

  /**
   * A transaction of two round trips, for work that reads, decides, and then writes: the statements of `write` are
   * sent together with the commit. Their rows are then turned into the result. Retries and rejects as `transaction` does.
   */
  async readThenWrite<Found, Written>(
    read: (tx: Executor) => Promise<Found>,
    write: (found: Found) => Statements<Written>,
  ): Promise<Written> {
    return this.#onOneConnection(async (client, deadlineMs) => {
      const { tx, begun, close } = this.#begin(client, deadlineMs);
      try {
        const found = await read(tx);
        await begun;
        const { all, valueOf } = write(found);
        const writing = Promise.all(all.map(({ text, values }) => tx.query(text, values)));
        const committing = this.#commit(client, deadlineMs);
        // It rejects with the statements, whose errors are more specific.
        committing.catch(() => undefined);
        const rows = await writing;
        await committing;
        return valueOf(rows);
      } finally {
        close();
      }
    });
  }

  /**
   * A separate connection for slow background work, such as detaching a partition: each statement may take
   * `timeoutMs`, and is a transaction of its own. The timeout is that of the transaction, so that a pooler which shares connections
   * of the server keeps none of it.
   */
  async maintenance<T>(timeoutMs: number, work: (session: MaintenanceSession) => Promise<T>): Promise<T> {
    const client = await this.#checkOut();
    const transaction = async <Done>(statements: (tx: Executor) => Promise<Done>, mostMs: number): Promise<Done> => {
      try {
        const limited = async (tx: Executor): Promise<Done> => {
          await tx.query(`SELECT set_config('statement_timeout', $1, true)`, [String(timeoutMs)]);
          return statements(tx);
        };
        return await this.#inTransaction(client, limited, performance.now() + mostMs + MAINTENANCE_GRACE_MS);
      } catch (error) {
        await this.#rollBack(client, performance.now() + MAINTENANCE_GRACE_MS);
        throw error;
      }
    };
    try {
      return await work({
        query: (text, values) => transaction((tx) => tx.query(text, values), timeoutMs),
        transaction: (statements) => transaction(statements, timeoutMs * MAINTENANCE_STATEMENTS),
      });
    } finally {
      client.release(true);
    }
  }

  /** Closes every connection; waits at most 5 s for running statements. */
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
        // Any reason, including a wrong password, is "unavailable" to the caller.
        const reason = classifyError(error);
        throw reason instanceof DatabaseUnavailable ? reason : new DatabaseUnavailable(reason.message);
      });
      if (this.generations.isCurrent(client)) return client;
      client.release(true);
    }
  }

  /**
   * A read-only server, or one that is silent for longer than its statement timeout, is considered unavailable for
   * the other connections too: they are replaced instead of failing one after the other. So are those that keep a
   * statement with an old plan; the transaction runs again.
   */
  async #run<Row extends object>(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[],
    deadlineMs: number,
  ): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
    const left = Math.ceil(deadlineMs - performance.now());
    if (left <= 0) throw new DatabaseUnavailable('no time left for a statement');
    const kept = this.#keptStatement(text, values);
    const parsed = kept !== undefined && hasParsed(client, kept.name);
    const query: TimedQuery = { text: kept?.text ?? text, values: [...values], query_timeout: left };
    if (kept !== undefined) query.name = kept.name;
    corkUntilNextTick(client);
    try {
      const result = await client.query<Row & pg.QueryResultRow>(query);
      if (this.waits.take(client)) {
        throw new DatabaseUnavailable('a commit did not wait for the standby', { connectionLives: true });
      }
      return result;
    } catch (error) {
      if (kept !== undefined) this.#judgeStatement(error, kept, parsed);
      if (isReadOnly(error) || (isQueryTimeout(error) && left > STATEMENT_TIMEOUT_MS)) this.generations.retireAll();
      const reason = classifyError(error);
      if (reason instanceof MissingPartition) for (const listener of this.#missingPartitionListeners) listener();
      throw reason;
    }
  }

  /** Undefined for a statement that is parsed and planned for each run. */
  #keptStatement(text: string, values: readonly unknown[]): KeptStatement | undefined {
    if (!this.#keepsStatements) return undefined;
    const name = preparedName(text);
    if (name !== undefined) return { name, text };
    const kept = dayStatement(text, values, Date.now());
    return kept !== undefined && this.#largePartitions.has(kept.partition) ? kept : undefined;
  }

  /** Throws TransactionConflict if the error is only of the kept statement. */
  #judgeStatement(error: unknown, { partition }: KeptStatement, parsed: boolean): void {
    if (partition !== undefined && isWithoutPartition(error)) {
      this.#largePartitions.exclude(partition);
      throw new TransactionConflict(`${partition} cannot be named`, { cause: error });
    }
    const lost = isLostByPooler(error, parsed);
    if (!lost && !hasStalePlan(error)) return;
    if (lost) this.#keepsStatements = false;
    this.generations.retireAll();
    throw new TransactionConflict('a kept statement does not hold any more', { cause: error });
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
    const begun = this.#run(client, this.pooler ? BEGIN_OF_POOLER : BEGIN, [], deadlineMs);
    // Not awaited here: it is sent with the first statement of the work, and awaited before the commit.
    begun.catch(() => undefined);
    return { tx, begun, close: () => (open = false) };
  }

  async #commit(client: pg.PoolClient, deadlineMs: number): Promise<void> {
    const { command } = await this.#run(client, 'COMMIT', [], deadlineMs);
    // COMMIT rolls back, without an error, a transaction with a failed statement whose error was swallowed.
    if (command !== 'COMMIT') throw new Error('a statement of this transaction failed: nothing was committed');
  }

  /** False when the connection is no longer usable. */
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
