/** A token keeps its digits: it is no code, and engineers compare it with the one of the session. */
const TOKEN = /AUTH-[A-Z0-9]{2,12}-[0-9A-Z]{16}/u;
/** Six digits or more, also with single separators between them, as people write codes. */
const LIKE_A_CODE = /\p{Nd}(?:[\s.,_‐-―-]?\p{Nd}){5,}/u;
const IN_FROM_PHONE = new RegExp(`(${TOKEN.source})|${LIKE_A_CODE.source}`, 'giu');
const DIGIT = /\p{Nd}/gu;

/**
 * A text without the digits of codes. Of a text that goes to a phone every digit is hidden, of one that came from a phone
 * every run of digits that could be a code.
 */
export function hideCodeDigits(text: string, direction: 'in' | 'out'): string {
  if (direction === 'out') return text.replace(DIGIT, '*');
  return text.replace(IN_FROM_PHONE, (found: string, token?: string) => token ?? found.replace(DIGIT, '*'));
}
