/** Joins three lists of equal length. Throws for others, so that a verdict never applies to a different message. */
export function zip<A, B, C>(as: readonly A[], bs: readonly B[], cs: readonly C[]): [A, B, C][] {
  if (as.length !== bs.length || as.length !== cs.length) throw new RangeError('lists of different lengths');
  return as.map((a, index) => {
    const [b, c] = [bs[index], cs[index]];
    if (b === undefined || c === undefined) throw new RangeError('a list with a hole');
    return [a, b, c];
  });
}
