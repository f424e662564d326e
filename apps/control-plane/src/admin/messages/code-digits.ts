/** Digits of a token are shown: a token is no code, and engineers compare it with the token of the session. */
const TOKEN = /AUTH-[A-Z0-9]{2,12}-[0-9A-Z]{16}/u;
/** Six digits or more, with or without single separators between them. */
const LIKE_A_CODE = /\p{Nd}(?:[\s.,_‐-―-]?\p{Nd}){5,}/u;
const IN_FROM_PHONE = new RegExp(`(${TOKEN.source})|${LIKE_A_CODE.source}`, 'giu');
const DIGIT = /\p{Nd}/gu;

/**
 * A text with the digits of codes hidden: in a text to a phone every digit, in a text from a phone every run of digits that
 * could be a code.
 */
export function hideCodeDigits(text: string, direction: 'in' | 'out'): string {
  if (direction === 'out') return text.replace(DIGIT, '*');
  return text.replace(IN_FROM_PHONE, (found: string, token?: string) => token ?? found.replace(DIGIT, '*'));
}
