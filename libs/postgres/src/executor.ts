/** Executes single statements. Stores get it as an argument: the caller opens the transaction. */
export interface Executor {
  /**
   * Runs one statement with `$1`-style parameters and returns its rows. Throws DatabaseUnavailable, or DataError when
   * the server rejects it. Select `json` columns as `::text`: parsing would lose their key order.
   */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/** Executes statements and transactions. */
export interface Transactions extends Executor {
  transaction<T>(work: (tx: Executor) => Promise<T>): Promise<T>;
}
