import { unpackSeptets } from './septets.js';

/** A label of a receipt (SMPP 3.4, appendix B) or a longer form of one, as the source of a regular expression. */
export const RECEIPT_LABEL = String.raw`(?:id|sub|dlvrd|submit date|done date|stat(?:e|us)?|err(?:or)?|text)\s{0,2}:`;
const BEGINS_WITH_LABEL = new RegExp(String.raw`^[\s\0]*${RECEIPT_LABEL}`, 'i');
/** Labels that no other text has: some carriers write the quotation, or words of their own, before the fields. */
const OWN_LABEL = /\b(?:stat|dlvrd|submit date|done date)\s{0,2}:/i;

/**
 * A field of a receipt, with what separates it from the next: those that carriers' reports are read for, and the counts and
 * times beside them. Values are as narrow as carriers write them: six digits are no error and no time.
 */
const RECEIPT_FIELD = new RegExp(
  String.raw`(?:(id)\s{0,2}:\s{0,2}(?!auth)[0-9a-z][0-9a-z._-]{0,63}` +
    String.raw`|(sub|dlvrd)\s{0,2}:\s{0,2}[0-9]{1,3}` +
    String.raw`|((?:submit|done) date)\s{0,2}:\s{0,2}[0-9]{10,14}` +
    String.raw`|(stat)(?:e|us)?\s{0,2}:\s{0,2}[a-z]{1,20}` +
    String.raw`|(err)(?:or)?\s{0,2}:\s{0,2}[0-9a-z]{1,5})` +
    String.raw`(?=[\s\0,;]|$)[\s\0,;]{0,4}`,
  'iy',
);
/** A receipt quotes the original message after this label. */
const QUOTE = /text\s{0,2}:/iy;

const SEPTET_BITS = 7;
/** The upper octets of ASCII in UCS-2, and a byte order mark. */
const UCS2_OCTETS = /[\0\u00fe\u00ff]/g;

export const beginsWithReceiptLabel = (text: string): boolean => BEGINS_WITH_LABEL.test(text);

/** Octets read as ASCII one by one, or as UCS-2. Other characters are of no meaning. */
export const plainReading = (octets: Uint8Array): string => latin1(octets).replaceAll(UCS2_OCTETS, '');

/** Whether a text may be a receipt: it begins with a label of one, or has one that no other text has. */
export const mayBeReceipt = (text: string): boolean => beginsWithReceiptLabel(text) || OWN_LABEL.test(text);

/**
 * Length of the fields at the beginning of a receipt, each at most once, with the label of the quotation behind them; 0 when
 * it begins with none.
 */
export function receiptFieldsLength(text: string): number {
  const seen = new Set<string>();
  let end = 0;
  for (;;) {
    RECEIPT_FIELD.lastIndex = end;
    const field = RECEIPT_FIELD.exec(text);
    const label = field?.slice(1).find(Boolean)?.toLowerCase();
    if (field === null || label === undefined || seen.has(label)) break;
    seen.add(label);
    end += field[0].length;
  }
  QUOTE.lastIndex = end;
  return end === 0 ? 0 : end + (QUOTE.exec(text)?.[0].length ?? 0);
}

/**
 * The octets in each alphabet in which digits and letters are those of ASCII: octet by octet, which is UCS-2 too, and as
 * packed septets from each bit, since septets may be quoted behind octets. Other characters are of no meaning.
 */
export function* asciiReadings(octets: Uint8Array): Generator<string> {
  yield plainReading(octets);
  for (let bit = 0; bit < SEPTET_BITS; bit += 1) yield latin1(unpackSeptets(octets, undefined, bit));
}

const latin1 = (octets: Uint8Array): string =>
  Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
