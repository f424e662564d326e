/** The row of a statement that always returns one: an aggregate, or a change of a row that the caller has locked. Throws without one. */
export function requireRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('a statement that must return a row returned none');
  return row;
}
