import {
  asciiReadings,
  encodeGsm,
  encodeUcs2,
  mayBeReceipt,
  packSeptets,
  receiptFieldsLength,
} from '@countersign/text';

/** Digits of a token are shown: a token is no code, and engineers compare it with the token of the session. */
const TOKEN = /AUTH-[A-Z0-9]{2,12}-[0-9A-Z]{16}/u;
/** Six digits or more, with or without single separators between them. */
const LIKE_A_CODE = /\p{Nd}(?:[\s.,_‐-―-]?\p{Nd}){5,}/u;
const IN_FROM_PHONE = new RegExp(`(${TOKEN.source})|${LIKE_A_CODE.source}`, 'giu');
const IN_QUOTATION = new RegExp(String.raw`(${TOKEN.source})|\S`, 'giu');
const TOKENS = new RegExp(TOKEN.source, 'giu');
const DIGIT = /\p{Nd}/gu;
const CODE = /[0-9]{6}/;
const OCTET_BITS = 8;
/** For a character outside of GSM 03.38. */
const SPACE = Buffer.from(' ');

/**
 * A text with codes hidden: in a text to a phone every digit, in a text from a phone every run of digits that could be a
 * code. Of an inbound text that may be a receipt, which quotes another text, everything behind its fields is hidden, and of
 * one that gives six digits when it is read in another alphabet, everything. Tokens are shown.
 */
export function hideCodeDigits(text: string, direction: 'in' | 'out'): string {
  if (direction === 'out') return text.replace(DIGIT, '*');
  const quoteAt = mayBeReceipt(text) ? receiptFieldsLength(text) : text.length;
  const shown = withoutCodes(text.slice(0, quoteAt)) + withoutWords(text.slice(quoteAt));
  return hasCodeInOtherAlphabet(shown) ? withoutWords(text) : shown;
}

const withoutCodes = (text: string): string =>
  text.replace(IN_FROM_PHONE, (found: string, token?: string) => token ?? found.replace(DIGIT, '*'));

const withoutWords = (text: string): string => text.replace(IN_QUOTATION, (_, token?: string) => token ?? '*');

/**
 * A link may have read a text in another alphabet than that of its octets, or of a quotation in it. Octets that were read as
 * septets begin at any bit: behind a header, or behind an escape whose character took two septets.
 */
function hasCodeInOtherAlphabet(shown: string): boolean {
  const text = shown.replaceAll(TOKENS, ' ');
  const septets = Buffer.concat(Array.from(text, (character) => encodeGsm(character) ?? SPACE));
  const packed = Array.from({ length: OCTET_BITS }, (_, bits) => packSeptets(septets, bits));
  for (const octets of [...packed, septets, Buffer.from(text, 'latin1'), encodeUcs2(text)]) {
    for (const reading of asciiReadings(octets)) if (CODE.test(reading)) return true;
  }
  return false;
}
