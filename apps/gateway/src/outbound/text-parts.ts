import type { LinkAlphabet } from '@countersign/carriers/config';
import type { Concatenation } from '@countersign/carriers/submit-options';
import { integerTlv, octetsTlv, type Tlv } from '@countersign/smpp/pdu';
import { encodeGsm, encodeUcs2, packSeptets, paddedSeptets } from '@countersign/text';

const DEFAULT_CODING = 0;
const UCS2_CODING = 8;
/** esm_class bit 6: the text begins with a user data header (SMPP 3.4, 5.2.12). */
const HAS_HEADER = 0x40;

/** UCS-2 units in one SMS, and after the header of a part (3GPP TS 23.040, 9.2.3.24.1). */
const UCS2_SMS_UNITS = 70;
const UCS2_PART_UNITS = 67;

const NO_TLVS: readonly Tlv[] = [];

/** The text fields of a submit_sm. */
export interface TextPart {
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly shortMessage: Buffer;
  /** Of a long text, unless its parts have a user data header. */
  readonly tlvs: readonly Tlv[];
  /** The receipt of the last part counts for the message. */
  readonly isLast: boolean;
}

/**
 * Encodes a text for a link: in the carrier's default alphabet, or in UCS-2, in parts if needed, when the alphabet lacks a
 * character. A code is at most one GSM segment, so at most three parts; with `message_payload` a long text is one part.
 * `reference`: 0 to 255.
 */
export function textParts(
  text: string,
  alphabet: LinkAlphabet,
  reference: number,
  concatenation: Concatenation = 'udh',
): readonly TextPart[] {
  const octets = inDefault(text, alphabet);
  if (octets !== null) return [wholeText(DEFAULT_CODING, octets)];
  if (text.length <= UCS2_SMS_UNITS) return [wholeText(UCS2_CODING, encodeUcs2(text))];
  if (concatenation === 'message_payload') {
    const tlvs = [octetsTlv('message_payload', encodeUcs2(text))];
    return [{ ...wholeText(UCS2_CODING, Buffer.alloc(0)), tlvs }];
  }
  const pieces = piecesOf(text);
  return pieces.map((piece, index) => {
    const isLast = index === pieces.length - 1;
    const at = { reference, total: pieces.length, part: index + 1 };
    const octetsOfPiece = encodeUcs2(piece);
    if (concatenation === 'sar') return { ...wholeText(UCS2_CODING, octetsOfPiece), tlvs: sarTlvs(at), isLast };
    const shortMessage = Buffer.concat([headerOf(at), octetsOfPiece]);
    return { ...wholeText(UCS2_CODING, shortMessage), esmClass: HAS_HEADER, isLast };
  });
}

const wholeText = (dataCoding: number, shortMessage: Buffer): TextPart => {
  return { esmClass: 0, dataCoding, shortMessage, tlvs: NO_TLVS, isLast: true };
};

/** The place of a part in its message; `part` from 1. */
interface PartPlace {
  readonly reference: number;
  readonly total: number;
  readonly part: number;
}

/** SMPP 3.4, 5.3.2.22 to 5.3.2.24. */
const sarTlvs = ({ reference, total, part }: PartPlace): readonly Tlv[] => [
  integerTlv('sar_msg_ref_num', reference & 0xff),
  integerTlv('sar_total_segments', total),
  integerTlv('sar_segment_seqnum', part),
];

/** User data header: length 5, element 0 with 3 octets: reference, number of parts, part number. */
const headerOf = ({ reference, total, part }: PartPlace): Buffer => Buffer.of(5, 0, 3, reference & 0xff, total, part);

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
