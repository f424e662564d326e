/** The row of a statement with RETURNING. Throws without one: the caller must hold a lock on the row. */
export function requireRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('a statement with RETURNING returned no row');
  return row;
}
