const HEAD = 4;
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

/**
 * `+14155552671` becomes `+141******71`: the first four and the last two characters stay, of a short text only the
 * last two.
 */
export function maskPhone(text: string): string {
  const head = text.length >= HEAD + TAIL + HIDDEN_AT_LEAST ? HEAD : 0;
  const hidden = Math.max(text.length - head - TAIL, 0);
  return text.slice(0, head) + '*'.repeat(hidden) + text.slice(head + hidden);
}

/** Masks every phone number in a text. Prefers masking too much to masking too little. */
export function maskPhonesIn(text: string): string {
  return text.replace(IN_TEXT, (found) =>
    found.length === UUID_LENGTH && found.charAt(8) === '-' && !/^[+%]/.test(found) ? found : maskPhone(found),
  );
}
