import {
  beginsWithReceiptLabel,
  decodeText,
  plainReading,
  RECEIPT_LABEL,
  unpackSeptets,
  type DefaultAlphabet,
} from '@countersign/text';
import { beginsWithHeader, INTERMEDIATE_NOTIFICATION, messageType } from '../pdu/esm-class.js';
import { messageOctets, textField } from './message-text.js';
import type { MessagePdu } from '../pdu/pdu.js';
import { tlvInteger, tlvOctets } from '../pdu/tlv.js';

/** A carrier's report on a message that it accepted from us. */
export interface DeliveryReceipt {
  /** The message_id from its submit_sm_resp. */
  readonly messageId: string;
  /** `undecided`: still in transit, or unknown to the carrier. */
  readonly state: 'delivered' | 'undelivered' | 'undecided';
  /**
   * The error of an undelivered message: the network's code, else the name of the state; null in the other states.
   */
  readonly networkError: string | null;
}

interface Outcome {
  readonly name: string;
  readonly state: DeliveryReceipt['state'];
}

/**
 * message_state (SMPP 3.4, 5.2.28; 0 and 9 are of 5.0). ACCEPTED is final by the specification; in practice it means
 * "forwarded".
 */
const OUTCOMES: readonly Outcome[] = [
  { name: 'SCHEDULED', state: 'undecided' },
  { name: 'ENROUTE', state: 'undecided' },
  { name: 'DELIVRD', state: 'delivered' },
  { name: 'EXPIRED', state: 'undelivered' },
  { name: 'DELETED', state: 'undelivered' },
  { name: 'UNDELIV', state: 'undelivered' },
  { name: 'ACCEPTD', state: 'undecided' },
  { name: 'UNKNOWN', state: 'undecided' },
  { name: 'REJECTD', state: 'undelivered' },
  { name: 'SKIPPED', state: 'undelivered' },
];

/**
 * State names of SMPP 3.4 appendix B and the full words that some carriers write, compared by their first seven
 * letters.
 */
const OUTCOME_BY_STATE: ReadonlyMap<string, Outcome> = new Map([
  ...OUTCOMES.map((outcome) => [outcome.name, outcome] as const),
  ['DELIVER', { name: 'DELIVRD', state: 'delivered' }],
  ['ACCEPTE', { name: 'ACCEPTD', state: 'undecided' }],
  ['REJECTE', { name: 'REJECTD', state: 'undelivered' }],
  ['FAILED', { name: 'FAILED', state: 'undelivered' }],
]);
const STATE_LETTERS = 7;

const MESSAGE_ID = /^[\x21-\x7e]{1,64}$/;
/** A label directly behind `id:` means that the id is missing. */
const ID_IN_TEXT = new RegExp(
  String.raw`\bid\s{0,2}:\s{0,2}(?!${RECEIPT_LABEL})([\x21-\x7e]{1,64}?)(?=[,;]?(?:[\s\0]|$)|[,;]${RECEIPT_LABEL})`,
  'i',
);
const STATE_IN_TEXT = /\bstat(?:e|us)?\s{0,2}:\s{0,2}([A-Za-z]{1,20})/i;
const ERROR_IN_TEXT = /\berr(?:or)?\s{0,2}:\s{0,2}([0-9A-Za-z]{1,8})(?=[\s\0,;]|$)/i;
/** The quoted message begins here; its words are no fields. */
const QUOTE_IN_TEXT = /\btext\s{0,2}:/i;
const NO_ERROR = /^0*$/;

/**
 * Octets of a text in which fields are searched. Those of appendix B take less than 200 characters, and a quotation before
 * them is a message of ours; a text of 64 KiB is read in three alphabets otherwise.
 */
const FIELDS_OCTETS = 2_048;
/** Octets that suffice for white space, a byte order mark and the longest label, in any alphabet. */
const LABEL_OCTETS = 48;
const LABEL_INITIALS: ReadonlySet<number> = new Set(Array.from('idset', (letter) => letter.charCodeAt(0)));
/** A packed septet has the next one's lowest bit above it. */
const ASCII_BITS = 0x7f;
const LOWER_CASE_BIT = 0x20;
const SPACE = 0x20;
const BYTE_ORDER_MARK: readonly number[] = [0xfe, 0xff];

const ALPHABETS: readonly DefaultAlphabet[] = ['latin1', 'gsm', 'gsm-packed'];
const PACKED_ALPHABETS: readonly DefaultAlphabet[] = ['gsm-packed', 'latin1', 'gsm'];

/** network_error_code (SMPP 3.4, 5.3.2.31): the network type, then a 16-bit code. */
const ERROR_CODE_OCTETS = 3;
const ERROR_CODE_DIGITS = 3;

/**
 * Parses a receipt, from its TLVs first, else from its text; null when neither names a message. Never throws. Says
 * nothing about whether the message is a receipt: see `messageKind`, `hasReceiptTlvs` and `beginsAsReceipt`.
 *
 * @param alphabet of the link. Carriers write receipts in ASCII whatever the alphabet of their MOs, so other alphabets
 *   are tried when no id is readable.
 */
export function parseReceipt(pdu: MessagePdu, alphabet: DefaultAlphabet = 'latin1'): DeliveryReceipt | null {
  const text = receiptText(pdu, alphabet);
  const quoteAt = text.search(QUOTE_IN_TEXT);
  // A few carriers write the quotation first: then the fields are behind it.
  const unquoted = quoteAt < 0 ? text : text.slice(0, quoteAt);
  const fields = ID_IN_TEXT.test(unquoted) ? unquoted : text;
  const messageId = idOfTlv(pdu) ?? ID_IN_TEXT.exec(fields)?.[1] ?? null;
  if (messageId === null) return null;
  const outcome = outcomeOf(pdu, fields);
  // An intermediate notification is never final.
  const isFinal = messageType(pdu.fields.esmClass) !== INTERMEDIATE_NOTIFICATION;
  const state = isFinal ? (outcome?.state ?? 'undecided') : 'undecided';
  const networkError = state === 'undelivered' ? (errorOf(pdu, fields) ?? outcome?.name ?? null) : null;
  return { messageId, state, networkError };
}

/** Whether TLVs mark the message as a receipt. A phone cannot set them. */
export function hasReceiptTlvs(pdu: MessagePdu): boolean {
  if (pdu.tlvs.length === 0) return false;
  return idOfTlv(pdu) !== null || tlvInteger(pdu, 'message_state') !== null;
}

/**
 * Whether the text begins with a label of a receipt (SMPP 3.4, appendix B), in ASCII, UCS-2 or packed septets, whatever
 * data_coding and the link's alphabet say: its letters are the same octets in the others. A phone's user can write such a
 * text. One octet decides on nearly every other text; a text behind a user data header is a phone's.
 */
export function beginsAsReceipt(pdu: MessagePdu): boolean {
  if (beginsWithHeader(pdu.fields.esmClass)) return false;
  const octets = textField(pdu);
  if (!LABEL_INITIALS.has((firstLetter(octets) & ASCII_BITS) | LOWER_CASE_BIT)) return false;
  const head = octets.subarray(0, LABEL_OCTETS);
  return beginsWithReceiptLabel(plainReading(head)) || beginsWithReceiptLabel(unpackSeptets(head).toString('latin1'));
}

/** The first octet that is not white space, the upper half of a UCS-2 unit or a byte order mark; 0 without one. */
function firstLetter(octets: Buffer): number {
  for (let at = 0; at < octets.length && at < LABEL_OCTETS; at += 1) {
    const octet = octets[at] ?? 0;
    if (octet > SPACE && !BYTE_ORDER_MARK.includes(octet)) return octet;
  }
  return 0;
}

/**
 * The beginning of the text in the first alphabet in which it names a message, else in the most likely one. It ends with a
 * space if the text goes on, so that no field is cut.
 */
function receiptText(pdu: MessagePdu, alphabet: DefaultAlphabet): string {
  const { octets: all, udh } = messageOctets(pdu);
  if (all.length === 0) return '';
  const octets = all.length > FIELDS_OCTETS ? all.subarray(0, FIELDS_OCTETS) : all;
  const likely = alphabet === 'gsm-packed' ? PACKED_ALPHABETS : ALPHABETS;
  let first: string | null = null;
  for (const each of likely) {
    const decoded = decodeText(octets, pdu.fields.dataCoding, each, udh?.fillBits);
    const text = octets === all ? decoded : decoded.slice(0, decoded.lastIndexOf(' ') + 1);
    if (ID_IN_TEXT.test(text)) return text;
    first ??= text;
  }
  return first ?? '';
}

/** Some peers omit the NUL of the C-octet string, or append octets after it. */
function idOfTlv(pdu: MessagePdu): string | null {
  const [id = ''] = (tlvOctets(pdu, 'receipted_message_id')?.toString('latin1') ?? '').split('\0');
  return MESSAGE_ID.test(id) ? id : null;
}

function outcomeOf(pdu: MessagePdu, text: string): Outcome | null {
  const value = tlvInteger(pdu, 'message_state');
  const ofTlv = value === null ? undefined : OUTCOMES[value];
  if (ofTlv !== undefined) return ofTlv;
  const stateText = STATE_IN_TEXT.exec(text)?.[1]?.toUpperCase() ?? '';
  return OUTCOME_BY_STATE.get(stateText) ?? OUTCOME_BY_STATE.get(stateText.slice(0, STATE_LETTERS)) ?? null;
}

function errorOf(pdu: MessagePdu, text: string): string | null {
  const code = tlvOctets(pdu, 'network_error_code');
  if (code?.length === ERROR_CODE_OCTETS) {
    const value = String(code.readUInt16BE(1)).padStart(ERROR_CODE_DIGITS, '0');
    if (!NO_ERROR.test(value)) return value;
  }
  const inText = ERROR_IN_TEXT.exec(text)?.[1];
  return inText === undefined || NO_ERROR.test(inText) ? null : inText;
}
