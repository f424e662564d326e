/** With `$1`-style parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Statements, and a function that turns their rows into a value. They are data: all are known before the first is sent. */
export interface Statements<Value> {
  readonly all: readonly Statement[];
  /** @param rows of each statement, in the same order */
  readonly valueOf: (rows: readonly (readonly object[])[]) => Value;
}

/** One statement. The parameter of `valueOf` says which rows it returns, as the type argument of `Executor.query` does. */
export const statement = <Value>(
  text: string,
  values: readonly unknown[],
  valueOf: (rows: readonly never[]) => Value,
): Statements<Value> => ({
  all: [{ text, values }],
  valueOf: ([rows = []]) => valueOf(rows as readonly never[]),
});

/** A value that needs no statement. */
export const noStatement = <Value>(value: Value): Statements<Value> => ({ all: [], valueOf: () => value });

/** The statements of both, which run in this order. */
export const together = <One, Other, Value>(
  one: Statements<One>,
  other: Statements<Other>,
  valueOf: (one: One, other: Other) => Value,
): Statements<Value> => ({
  all: [...one.all, ...other.all],
  valueOf: (rows) => valueOf(one.valueOf(rows.slice(0, one.all.length)), other.valueOf(rows.slice(one.all.length))),
});

/** Sends all statements at once, in a transaction that goes on. */
export async function runStatements<Value>(
  tx: { readonly query: (text: string, values: readonly unknown[]) => Promise<readonly object[]> },
  { all, valueOf }: Statements<Value>,
): Promise<Value> {
  return valueOf(await Promise.all(all.map(({ text, values }) => tx.query(text, values))));
}
