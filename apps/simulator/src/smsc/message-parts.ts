import { GSM_SEGMENT_SEPTETS, gsmSeptets } from '@countersign/text';

/** data_coding of the SMSC default alphabet and of UCS-2 (SMPP 3.4, 5.2.19). */
const DATA_CODING = { default: 0, ucs2: 8 } as const;

/**
 * Capacity of a segment, and of a part of a long message beside its user data header of 6 octets (3GPP TS 23.040,
 * 9.2.3.24.1).
 */
const GSM_LIMITS = { whole: GSM_SEGMENT_SEPTETS, part: 153 } as const;
const UCS2_LIMITS = { whole: 70, part: 67 } as const;
const MOST_PARTS = 255;
const REFERENCES = 256;

export interface MessagePart {
  readonly text: string;
  readonly dataCoding: number;
  /** User data header with its length octet; null on a message of one part. */
  readonly udh: Buffer | null;
}

/**
 * Splits a text into the segments that a phone sends: GSM 03.38 if it has every character, else UCS-2. Never splits an
 * escaped character or a surrogate pair. Null when the text takes more than 255 parts.
 */
export function splitMessage(text: string, reference: number): MessagePart[] | null {
  const isGsm = gsmSeptets(text) !== null;
  const dataCoding = isGsm ? DATA_CODING.default : DATA_CODING.ucs2;
  const limits = isGsm ? GSM_LIMITS : UCS2_LIMITS;
  const sizeOf = isGsm
    ? (character: string): number => gsmSeptets(character) ?? 1
    : (unit: string): number => unit.length;
  const characters = Array.from(text);
  const size = characters.reduce((sum, character) => sum + sizeOf(character), 0);
  if (size <= limits.whole) return [{ text, dataCoding, udh: null }];
  const texts = pack(characters, sizeOf, limits.part);
  if (texts.length > MOST_PARTS) return null;
  return texts.map((part, index) => ({
    text: part,
    dataCoding,
    udh: Buffer.from([5, 0, 3, reference % REFERENCES, texts.length, index + 1]),
  }));
}

function pack(characters: readonly string[], sizeOf: (character: string) => number, limit: number): string[] {
  const texts: string[] = [];
  let text = '';
  let size = 0;
  for (const character of characters) {
    if (size + sizeOf(character) > limit) {
      texts.push(text);
      text = '';
      size = 0;
    }
    text += character;
    size += sizeOf(character);
  }
  return [...texts, text];
}
