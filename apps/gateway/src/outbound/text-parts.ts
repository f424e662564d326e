import type { LinkAlphabet } from '@countersign/carriers/config';
import { encodeGsm, encodeUcs2, packSeptets, paddedSeptets } from '@countersign/text';

const DEFAULT_CODING = 0;
const UCS2_CODING = 8;
/** esm_class bit 6: the text begins with a user data header (SMPP 3.4, 5.2.12). */
const HAS_HEADER = 0x40;

/** UCS-2 units in one SMS, and after the header of a part (3GPP TS 23.040, 9.2.3.24.1). */
const UCS2_SMS_UNITS = 70;
const UCS2_PART_UNITS = 67;

/** The text fields of a submit_sm. */
export interface TextPart {
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly shortMessage: Buffer;
  /** The receipt of the last part counts for the message. */
  readonly isLast: boolean;
}

/**
 * Encodes a text for a link: in the carrier's default alphabet, or in UCS-2, in parts if needed, when the alphabet lacks a
 * character. A code is at most one GSM segment, so at most three parts. `reference`: 0 to 255.
 */
export function textParts(text: string, alphabet: LinkAlphabet, reference: number): readonly TextPart[] {
  const octets = inDefault(text, alphabet);
  if (octets !== null) return [{ esmClass: 0, dataCoding: DEFAULT_CODING, shortMessage: octets, isLast: true }];
  if (text.length <= UCS2_SMS_UNITS) {
    return [{ esmClass: 0, dataCoding: UCS2_CODING, shortMessage: encodeUcs2(text), isLast: true }];
  }
  const pieces = piecesOf(text);
  return pieces.map((piece, index) => ({
    esmClass: HAS_HEADER,
    dataCoding: UCS2_CODING,
    shortMessage: Buffer.concat([headerOf(reference, pieces.length, index + 1), encodeUcs2(piece)]),
    isLast: index === pieces.length - 1,
  }));
}

/** User data header: length 5, element 0 with 3 octets: reference, number of parts, part number. */
const headerOf = (reference: number, total: number, part: number): Buffer =>
  Buffer.of(5, 0, 3, reference & 0xff, total, part);

/** Does not split surrogate pairs. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of text) {
    if (piece.length + character.length > UCS2_PART_UNITS) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece];
}

function inDefault(text: string, alphabet: LinkAlphabet): Buffer | null {
  switch (alphabet) {
    case 'gsm':
      return encodeGsm(text);
    case 'gsm-packed': {
      const septets = encodeGsm(text);
      return septets === null ? null : packSeptets(paddedSeptets(septets));
    }
    case 'latin1':
      return upTo(0xff, text);
    case 'ascii':
      return upTo(0x7f, text);
  }
}

/** One octet per character; null if a character is above `highest`. */
function upTo(highest: number, text: string): Buffer | null {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > highest) return null;
  return Buffer.from(text, 'latin1');
}
