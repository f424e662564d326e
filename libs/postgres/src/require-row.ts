/** The row that a statement with RETURNING answers; its absence is a broken promise of the caller, who held the lock. */
export function written<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('a row was to be written and is not there');
  return row;
}
