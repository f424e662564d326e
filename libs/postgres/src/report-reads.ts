import { DatabaseUnavailable } from './database-errors.js';
import type { Executor, Transactions } from './executor.js';

/** Share of the connections of a process that run reports at a time, at least one. */
const SHARE = 0.3;
/** How long a report waits for its turn: what waits longer has no time left for its statements. */
const MAX_WAIT_MS = 2_000;
const MAX_WAITING = 256;

/**
 * Statements of reports and lists, which may read many rows: few run at a time, the others wait for their turn. So the calls of
 * sessions find a connection, however many reports are asked for.
 */
export class ReportReads implements Executor {
  readonly #most: number;
  #running = 0;
  /** Start the waiting reports, the oldest first. */
  readonly #waiting: (() => void)[] = [];

  /** @param poolMax connections of the process */
  constructor(
    private readonly database: Transactions,
    poolMax: number,
  ) {
    this.#most = Math.max(1, Math.floor(poolMax * SHARE));
  }

  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#inTurn(() => this.database.query<Row>(text, values));
  }

  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.database.transaction(work));
  }

  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running < this.#most) this.#running += 1;
    else await this.#turn();
    try {
      return await run();
    } finally {
      // A waiting report takes over the turn.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new DatabaseUnavailable('too many reports wait'));
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(new DatabaseUnavailable(`a report waited for ${MAX_WAIT_MS} ms`));
      }, MAX_WAIT_MS);
      this.#waiting.push(start);
    });
  }
}
