import { findStraddlingTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from '@countersign/session/tokens';

/**
 * The tokens of one part of a long message: those in its own text, and those across its edges, which it completes together
 * with stored parts. A token that other parts hold without this one is left out: those parts were matched by it. Parts may
 * arrive in any order; only consecutive part numbers are read as one text.
 *
 * @param own tokens of the part's own text
 * @param number of the part
 * @param nearby edges by part number
 */
export function tokensOfPart(
  own: readonly FoundToken[],
  number: number,
  nearby: ReadonlyMap<number, string>,
): FoundToken[] {
  const straddling = findStraddlingTokens(nearby.get(number) ?? '', run(nearby, number, -1), run(nearby, number, 1));
  const others = straddling.filter((found) => !own.some((known) => isSame(known, found)));
  return [...own, ...others].slice(0, MAX_TOKENS_PER_MESSAGE);
}

const isSame = (a: FoundToken, b: FoundToken): boolean => a.token === b.token && a.slug === b.slug;

/** The edges of the parts on one side, nearest first, up to the first missing part. */
function* run(nearby: ReadonlyMap<number, string>, number: number, step: 1 | -1): Generator<string> {
  for (let at = number + step; ; at += step) {
    const edges = nearby.get(at);
    if (edges === undefined) return;
    yield edges;
  }
}
