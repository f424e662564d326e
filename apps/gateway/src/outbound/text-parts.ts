import type { LinkAlphabet } from '@countersign/carriers/config';
import { encodeGsm, encodeUcs2, packSeptets, paddedSeptets } from '@countersign/text';

const DEFAULT_CODING = 0;
const UCS2_CODING = 8;
/** esm_class bit 6: the text begins with a user data header (SMPP 3.4, 5.2.12). */
const HAS_HEADER = 0x40;

/** What one SMS holds in UCS-2, and what it holds behind the header of a part (3GPP TS 23.040, 9.2.3.24.1). */
const UCS2_SMS_UNITS = 70;
const UCS2_PART_UNITS = 67;

/** What of a submit_sm is the text. */
export interface TextPart {
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly shortMessage: Buffer;
  /** The receipt of the last stands for all. */
  readonly isLast: boolean;
}

/**
 * A text as it goes over a link: in what the carrier takes for its default alphabet, and in UCS-2 where that lacks a
 * character, then in as many parts as that takes. A code is a segment of GSM at most: three parts. `reference`: 0 to 255.
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

/** Six octets: five follow, of an element of kind 0 with three: the reference, how many parts, which one. */
const headerOf = (reference: number, total: number, part: number): Buffer =>
  Buffer.of(5, 0, 3, reference & 0xff, total, part);

/** No pair of surrogates is torn apart. */
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

/** One octet a character, where no character is beyond that one. */
function upTo(highest: number, text: string): Buffer | null {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > highest) return null;
  return Buffer.from(text, 'latin1');
}
