import { findCompletedTokens, foldedText, type FoundToken } from './find-tokens.js';

/**
 * The longest token with its context, in folded text: "AUTH", a slug of 12, 16 characters, two dashes, a space on both
 * sides of each, and one character before and after, which may be a surrogate pair: 42 UTF-16 units. Rounded up.
 */
export const TOKEN_SPAN = 64;

/**
 * Marks a cut. A letter, so that no token begins or ends there: the character beyond the cut is unknown. No token
 * contains this letter; a Latin letter could be read as part of a token that was cut.
 */
export const CUT = '\u5207';
/** Separates texts that are not adjacent. No token contains it. */
const GAP = '|';
const MIDDLE = `${CUT}${GAP}${CUT}`;

/**
 * The text of a part that may belong to a token across its edges: the folded text if it is short, else its beginning
 * and end. At most 131 UTF-16 units, whatever the number of invisible characters and white space in the part.
 */
export function tokenEdges(text: string): string {
  const folded = foldedText(text);
  if (folded.length <= 2 * TOKEN_SPAN + MIDDLE.length) return folded;
  return folded.slice(0, TOKEN_SPAN) + MIDDLE + folded.slice(-TOKEN_SPAN);
}

/**
 * The tokens that span the edges of a part, so exist only together with its neighbours. Linear in the length of the
 * edges.
 *
 * @param edges of the part, by `tokenEdges`
 * @param before edges or texts of the preceding parts, nearest first, consecutive
 * @param after the same for the following parts
 */
export function findStraddlingTokens(edges: string, before: Iterable<string>, after: Iterable<string>): FoundToken[] {
  const [head, tail] = [textBefore(before), textAfter(after)];
  if (head === '' && tail === '') return [];
  return findCompletedTokens(head + edges + tail, head + GAP + tail);
}

function textBefore(parts: Iterable<string>): string {
  let text = '';
  for (const part of parts) {
    text = foldedText(part) + text;
    // Folded again, because white space at the joined edges becomes one run.
    if (text.length > TOKEN_SPAN) text = foldedText(text);
    if (text.length > TOKEN_SPAN) return CUT + text.slice(-TOKEN_SPAN);
  }
  return text;
}

function textAfter(parts: Iterable<string>): string {
  let text = '';
  for (const part of parts) {
    text += foldedText(part);
    if (text.length > TOKEN_SPAN) text = foldedText(text);
    if (text.length > TOKEN_SPAN) return text.slice(0, TOKEN_SPAN) + CUT;
  }
  return text;
}
