import { findCompletedTokens, findTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from '@countersign/session';

/** Keeps the text before a missing part from growing together with the text behind it. */
const GAP = '|';

/**
 * The tokens that one part of a long message is evidence of: those in its own text, and those that exist only because
 * it is there, running over its edges into the parts that are stored. A token that other parts hold without it is
 * theirs: they were answered for it. Parts may come in any order; only an unbroken run of part numbers reads as text.
 */
export function tokensOfPart(
  part: { readonly number: number; readonly text: string },
  stored: ReadonlyMap<number, string>,
): FoundToken[] {
  const own = findTokens(part.text);
  const before = runBefore(part.number, stored);
  const after = runAfter(part.number, stored);
  if (before === '' && after === '') return own;
  const completed = findCompletedTokens(before + part.text + after, before + GAP + after);
  const straddling = completed.filter((found) => !own.some((known) => isSame(known, found)));
  return [...own, ...straddling].slice(0, MAX_TOKENS_PER_MESSAGE);
}

const isSame = (a: FoundToken, b: FoundToken): boolean => a.token === b.token && a.slug === b.slug;

function runBefore(number: number, stored: ReadonlyMap<number, string>): string {
  const texts: string[] = [];
  for (let at = number - 1; ; at -= 1) {
    const text = stored.get(at);
    if (text === undefined) return texts.reverse().join('');
    texts.push(text);
  }
}

function runAfter(number: number, stored: ReadonlyMap<number, string>): string {
  const texts: string[] = [];
  for (let at = number + 1; ; at += 1) {
    const text = stored.get(at);
    if (text === undefined) return texts.join('');
    texts.push(text);
  }
}
