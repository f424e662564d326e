import type { FoundToken } from '@countersign/session';

/** Contract, MO matching: this many tokens of one message are tried. */
export const MAX_TOKENS = 3;

export type FindTokens = (text: string) => readonly FoundToken[];

/**
 * The tokens that one part of a long message is evidence of: those in its own text, and those that exist only because
 * it is there, running over its edges into the parts stored before. A token that earlier parts hold without it is
 * theirs: they were answered for it. Parts may come in any order; only an unbroken run of part numbers reads as text.
 */
export function tokensOfPart(
  part: { readonly number: number; readonly text: string },
  stored: ReadonlyMap<number, string>,
  findTokens: FindTokens,
): FoundToken[] {
  const own = findTokens(part.text);
  const before = runBefore(part.number, stored);
  const after = runAfter(part.number, stored);
  if (before === '' && after === '') return own.slice(0, MAX_TOKENS);
  const answered = new Set([...findTokens(before), ...findTokens(after), ...own].map(tokenKey));
  const straddling = findTokens(before + part.text + after).filter((found) => !answered.has(tokenKey(found)));
  return [...own, ...straddling].slice(0, MAX_TOKENS);
}

/** One text per token; two spellings of a token have the same. */
export const tokenKey = (found: FoundToken): string => `${found.slug}-${found.token}`;

function runBefore(number: number, stored: ReadonlyMap<number, string>): string {
  let text = '';
  for (let at = number - 1; ; at -= 1) {
    const part = stored.get(at);
    if (part === undefined) return text;
    text = part + text;
  }
}

function runAfter(number: number, stored: ReadonlyMap<number, string>): string {
  let text = '';
  for (let at = number + 1; ; at += 1) {
    const part = stored.get(at);
    if (part === undefined) return text;
    text += part;
  }
}
