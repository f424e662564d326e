/** A token found in a text, in canonical form: upper case, O read as 0, I and L as 1. */
export interface FoundToken {
  readonly slug: string;
  readonly token: string;
}

/** Maximum number of different tokens tried per message (contract, MO matching). */
export const MAX_TOKENS_PER_MESSAGE = 3;

/**
 * Finds the tokens in a text (contract, MO matching): at any position, in any case, not adjacent to further letters
 * or digits; with the dashes, white space, invisible characters, quotes and wide forms that phones and carriers
 * insert.
 *
 * Never throws. Linear in the length of the text: single passes normalise it first, after which the pattern has no
 * unbounded part.
 *
 * @returns up to three different tokens, in text order
 */
export function findTokens(text: string): FoundToken[] {
  return firstTokens(text, new Set());
}

/**
 * The tokens that a part of a long message completes: those of the whole that are not already in the rest. Without
 * this, every later part would report the token of the first one again.
 *
 * @param whole all parts present, including the new one
 * @param rest the same without the new part
 */
export function findCompletedTokens(whole: string, rest: string): FoundToken[] {
  return firstTokens(whole, new Set([...tokensIn(rest)].map(spelled)));
}

const PATTERN = /(?<![\p{L}\p{N}])AUTH ?- ?([A-Z0-9]{2,12}) ?- ?([0-9A-TV-Z]{16})(?![\p{L}\p{N}])/gu;

function firstTokens(text: string, known: Set<string>): FoundToken[] {
  const found: FoundToken[] = [];
  for (const token of tokensIn(text)) {
    if (known.has(spelled(token))) continue;
    known.add(spelled(token));
    found.push(token);
    if (found.length === MAX_TOKENS_PER_MESSAGE) break;
  }
  return found;
}

function* tokensIn(text: string): Generator<FoundToken> {
  const plain = plainSpelling(text);
  // Cheaper than the pattern; most texts stop here.
  if (!plain.includes('AUTH')) return;
  for (const [, slug = '', token = ''] of plain.matchAll(PATTERN)) {
    yield { slug, token: token.replaceAll('O', '0').replace(/[IL]/g, '1') };
  }
}

function spelled({ slug, token }: FoundToken): string {
  return `${slug}-${token}`;
}

/** Printable ASCII and line ends: nearly every MO, and no Unicode passes are needed. */
const PLAIN_ASCII = /^[\n\r -~]*$/;

/** Zero-width characters, joiners, BOM, soft hyphen, variation selectors, direction marks. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const WIDE_FORMS = /[\uFF01-\uFF5E]/g;
const WIDE_OFFSET = 0xfee0;
/** Hyphens and dashes of every length, the minus sign and the hyphen bullet. */
const DASHES = /[\p{Dash_Punctuation}\u2212\u2043]/gu;
/** Unicode classifies these apostrophes and quotation marks as letters; before a token they are quotes. */
const LETTER_QUOTES = /[\u02B9-\u02BF\u02C8\u02CA\u02CB]/g;
/** White space other than a single space. Most texts have none, so nothing is replaced. */
const WHITE_SPACE = /\s{2,}|[^\S ]/g;

/**
 * The text without irrelevant characters that may occur inside a token: invisible characters are removed, dashes and
 * wide forms are ASCII, each run of white space is one space. Folding is compositional: folding two folded texts
 * together equals folding the whole.
 */
export function foldedText(text: string): string {
  const visible = PLAIN_ASCII.test(text) ? text : foldUnicode(text);
  return visible.replace(WHITE_SPACE, ' ');
}

const plainSpelling = (text: string): string => foldedText(text).toUpperCase();

function foldUnicode(text: string): string {
  return text
    .replace(INVISIBLE, '')
    .replace(WIDE_FORMS, (wide) => String.fromCharCode(wide.charCodeAt(0) - WIDE_OFFSET))
    .replace(DASHES, '-')
    .replace(LETTER_QUOTES, "'");
}
