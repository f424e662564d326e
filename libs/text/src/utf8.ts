import { isAscii, isUtf8 } from 'node:buffer';

/** Octets of the longest character, less one. */
const LONGEST_REST = 3;

/**
 * Decodes octets that are UTF-8 with at least one character beyond ASCII; null for all others. In other alphabets such
 * octets are rare: a character of 0xC2 or more must be followed by characters of 0x80 to 0xBF.
 */
export function decodeUtf8(octets: Uint8Array): string | null {
  return isAscii(octets) || !isUtf8(octets) ? null : textOf(octets);
}

/** A piece of a UTF-8 text, without the characters that are cut at its ends. */
export interface Utf8Piece {
  readonly text: string;
  readonly cutBefore: boolean;
  readonly cutAfter: boolean;
}

/** Decodes a piece of a UTF-8 text, which may be cut inside of characters; null for other octets. */
export function decodeUtf8Piece(octets: Uint8Array): Utf8Piece | null {
  let start = 0;
  while (start < LONGEST_REST && isRest(octets[start])) start += 1;
  const end = octets.length - cutOctets(octets);
  const whole = octets.subarray(start, Math.max(start, end));
  if (!isUtf8(whole)) return null;
  return { text: textOf(whole), cutBefore: start > 0, cutAfter: end < octets.length };
}

const isRest = (octet: number | undefined): boolean => octet !== undefined && octet >= 0x80 && octet < 0xc0;

/** Number of octets at the end that begin a character without completing it. */
function cutOctets(octets: Uint8Array): number {
  for (let count = 1; count <= LONGEST_REST && count <= octets.length; count += 1) {
    const octet = octets[octets.length - count] ?? 0;
    if (octet < 0x80) return 0;
    if (octet >= 0xc0) return count < lengthOf(octet) ? count : 0;
  }
  return 0;
}

function lengthOf(first: number): number {
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

function textOf(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('utf8');
}
