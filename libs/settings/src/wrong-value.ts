/** Longer values are not shown. */
const LONGEST_SHOWN = 80;

/** Beginnings of secrets of this product and its stores; in a URL, a user or a query. */
const MARKS = /csk_|whsec_|-----BEGIN|:\/\/[^/]*@|[?#]/;
/** Characters of base64, base64url, hex and base62 in a row. */
const WORDS = /[A-Za-z0-9+/_=-]+/g;
/** A word of this length is no name, number or level. */
const LONG_WORD = 20;
/** A word of this length with two kinds of characters, letters in both cases or letters and digits, is seldom one. */
const MIXED_WORD = 12;
/** The length of an SMPP password; with all three kinds of characters. */
const SHORT_WORD = 8;

const KINDS = [/[a-z]/, /[A-Z]/, /[0-9]/];

/**
 * A wrong value of a variable that holds no secret, as it may stand in an error: quoted, else only its length, because
 * secrets are sometimes put into a variable beside their own. Reads as `"loud"` or `44 characters long (not shown: …)`.
 */
export function describeWrongValue(text: string): string {
  return text.length > LONGEST_SHOWN || looksLikeSecret(text)
    ? `${text.length} characters long (not shown: it may be a secret)`
    : JSON.stringify(text);
}

function looksLikeSecret(text: string): boolean {
  if (MARKS.test(text)) return true;
  return (text.match(WORDS) ?? []).some((word) => {
    const kinds = KINDS.filter((kind) => kind.test(word)).length;
    if (word.length >= LONG_WORD) return true;
    return (word.length >= MIXED_WORD && kinds >= 2) || (word.length >= SHORT_WORD && kinds === KINDS.length);
  });
}
