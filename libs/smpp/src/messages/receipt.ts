import { decodeText } from '@countersign/text';
import { INTERMEDIATE_NOTIFICATION } from '../pdu/esm-class.js';
import { messageOctets } from './message-text.js';
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
const ID_IN_TEXT = /\bid:\s?([\x21-\x7e]{1,64})(?=\s|$)/i;
const STATE_IN_TEXT = /\bstat:\s?([A-Za-z]{1,20})/i;
const ERROR_IN_TEXT = /\berr:\s?([0-9A-Za-z]{1,8})(?=\s|$)/i;
const NO_ERROR = /^0*$/;

/** network_error_code (SMPP 3.4, 5.3.2.31): the network type, then a 16-bit code. */
const ERROR_CODE_OCTETS = 3;
const ERROR_CODE_DIGITS = 3;

/**
 * Parses a receipt, from its TLVs first, else from its text; null when neither names a message. Never throws. Use
 * `messageKind` to find out whether the message is a receipt at all.
 */
export function parseReceipt(pdu: MessagePdu): DeliveryReceipt | null {
  const { octets } = messageOctets(pdu);
  // Receipts are ASCII in every alphabet that carriers use; other characters are irrelevant here.
  const text = decodeText(octets, pdu.fields.dataCoding, 'latin1');
  const messageId = idOfTlv(pdu) ?? ID_IN_TEXT.exec(text)?.[1] ?? null;
  if (messageId === null) return null;
  const outcome = outcomeOf(pdu, text);
  // An intermediate notification is never final.
  const isFinal = (pdu.fields.esmClass & INTERMEDIATE_NOTIFICATION) === 0;
  const state = isFinal ? (outcome?.state ?? 'undecided') : 'undecided';
  const networkError = state === 'undelivered' ? (errorOf(pdu, text) ?? outcome?.name ?? null) : null;
  return { messageId, state, networkError };
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
