import { findCompletedTokens, foldedText, type FoundToken } from './find-tokens.js';

/**
 * A token with what must stand around it, in folded text: "AUTH", a slug of 12, 16 characters, two dashes, a space on
 * both sides of each, and a character before and behind that may be a surrogate pair: 42 UTF-16 units. Rounded up.
 */
export const TOKEN_SPAN = 64;

/**
 * A letter beside a cut: no token can begin or end there, since what stood beyond the cut is not known. One that no
 * token has in any case: a Latin letter would be read as the next character of a token that was cut.
 */
const CUT = '\u5207';
/** Nothing grows together across it. */
const GAP = '|';
const MIDDLE = `${CUT}${GAP}${CUT}`;

/**
 * All of a part that a token over its edges can need: the folded text where that is short, else its beginning and its
 * end. At most 131 UTF-16 units, whatever invisible characters and runs of white space the part has.
 */
export function tokenEdges(text: string): string {
  const folded = foldedText(text);
  if (folded.length <= 2 * TOKEN_SPAN + MIDDLE.length) return folded;
  return folded.slice(0, TOKEN_SPAN) + MIDDLE + folded.slice(-TOKEN_SPAN);
}

/**
 * The tokens that exist only because a part is there: they run over its edges into the neighbours. Takes time in
 * proportion to the edges alone.
 *
 * @param edges of the part, by `tokenEdges`
 * @param before edges or texts of the parts before it, the nearest first, without a gap in their numbers
 * @param after the same for the parts behind it
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
    // Joined parts fold once more: white space at their edges runs together.
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
