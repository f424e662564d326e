/** Without a plus, which is shown beside them. */
const HEAD = 3;
const TAIL = 2;
/** Minimum number of hidden characters: with fewer the number could be guessed. */
const HIDDEN_AT_LEAST = 3;

/**
 * Canonical UUIDs stay readable; `+` or its percent-encoded form begins a number with any separators; so do 8 to 15
 * bare digits that are not part of a word (ids in base32 are words).
 */
const IN_TEXT =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:\+|%2B)(?:[ ().-]{0,2}\d){6,15}|(?<![0-9A-Za-z_])\d{8,15}(?![0-9A-Za-z_])/gi;
const UUID_LENGTH = 36;
/** Half of a surrogate pair. */
const HALF = /\p{Cs}/gu;

/**
 * `+14155552671` becomes `+141******71` and `14155552671` becomes `141******71`: the plus, the first three and the last
 * two characters stay, of a short text only the last two. A number shows the same digits with and without a plus, so that
 * the two forms together say no more than one of them. Half a character that is left of one shows as U+FFFD.
 */
export function maskPhone(text: string): string {
  const shown = text.startsWith('+') ? HEAD + 1 : HEAD;
  const head = text.length >= shown + TAIL + HIDDEN_AT_LEAST ? shown : 0;
  const hidden = Math.max(text.length - head - TAIL, 0);
  return (text.slice(0, head) + '*'.repeat(hidden) + text.slice(head + hidden)).replace(HALF, '\ufffd');
}

/** Masks every phone number in a text. Prefers masking too much to masking too little. */
export function maskPhonesIn(text: string): string {
  return text.replace(IN_TEXT, (found) =>
    found.length === UUID_LENGTH && found.charAt(8) === '-' && !/^[+%]/.test(found) ? found : maskPhone(found),
  );
}
