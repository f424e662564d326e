import { TimedSlots } from '@countersign/resilience';
import { DatabaseUnavailable } from './database-errors.js';
import type { Executor, Transactions } from './executor.js';

/** Share of the connections of a process that run reports at a time, at least one. */
const SHARE = 0.3;
/** Maximum wait of a report: one that waits longer has no time left for its statements. */
const MAX_WAIT_MS = 2_000;
const MAX_WAITING = 256;

/**
 * Statements of reports and lists, which may read many rows: few run at a time, the others wait for their turn. So the calls of
 * sessions find a connection, however many reports are asked for.
 */
export class ReportReads implements Transactions {
  readonly #slots: TimedSlots;

  /** @param poolMax connections of the process */
  constructor(
    private readonly database: Transactions,
    poolMax: number,
  ) {
    const slots = Math.max(1, Math.floor(poolMax * SHARE));
    this.#slots = new TimedSlots({ slots, maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });
  }

  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#inTurn(() => this.database.query<Row>(text, values));
  }

  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.database.transaction(work));
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    return this.#slots.run(run, () => {
      throw new DatabaseUnavailable(`reports: ${MAX_WAITING} wait already, or none ended within ${MAX_WAIT_MS} ms`);
    });
  }
}
