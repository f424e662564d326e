import { findStraddlingTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from '@countersign/session';

/**
 * The tokens that one part of a long message is evidence of: those in its own text, and those that exist only because
 * it is there, running over its edges into the parts that are stored. A token that other parts hold without it is not
 * repeated: they were answered for it. Parts may come in any order; only an unbroken run of part numbers reads as text.
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

/** The parts beside one, the nearest first, up to the first that is missing. */
function* run(nearby: ReadonlyMap<number, string>, number: number, step: 1 | -1): Generator<string> {
  for (let at = number + step; ; at += step) {
    const edges = nearby.get(at);
    if (edges === undefined) return;
    yield edges;
  }
}
