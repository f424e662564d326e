import { decodeText } from '@countersign/text';
import { INTERMEDIATE_NOTIFICATION } from '../pdu/esm-class.js';
import { messageOctets } from './message-text.js';
import type { MessagePdu } from '../pdu/pdu.js';
import { tlvInteger, tlvOctets } from '../pdu/tlv.js';

/** What a carrier reports of a message that it took from us. */
export interface DeliveryReceipt {
  /** The id that its response to our submit carried. */
  readonly messageId: string;
  /** `undecided`: it is still on its way, or the carrier does not know. */
  readonly state: 'delivered' | 'undelivered' | 'undecided';
  /** Why it was not delivered: the network's code, else the name of the state; null when it was, or may yet be. */
  readonly networkError: string | null;
}

interface Outcome {
  readonly name: string;
  readonly state: DeliveryReceipt['state'];
}

/** message_state (SMPP 3.4, 5.2.28; 0 and 9 are of 5.0). ACCEPTED is final in the letter, and "sent on" in practice. */
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

/** SMPP 3.4, appendix B, and what carriers write in its place: words in full, of which seven letters are enough. */
const OUTCOME_OF_WORD: ReadonlyMap<string, Outcome> = new Map([
  ...OUTCOMES.map((outcome) => [outcome.name, outcome] as const),
  ['DELIVER', { name: 'DELIVRD', state: 'delivered' }],
  ['ACCEPTE', { name: 'ACCEPTD', state: 'undecided' }],
  ['REJECTE', { name: 'REJECTD', state: 'undelivered' }],
  ['FAILED', { name: 'FAILED', state: 'undelivered' }],
]);
const WORD_LETTERS = 7;

const MESSAGE_ID = /^[\x21-\x7e]{1,64}$/;
const ID_IN_TEXT = /\bid:\s?([\x21-\x7e]{1,64})(?=\s|$)/i;
const STATE_IN_TEXT = /\bstat:\s?([A-Za-z]{1,20})/i;
const ERROR_IN_TEXT = /\berr:\s?([0-9A-Za-z]{1,8})(?=\s|$)/i;
const NO_ERROR = /^0*$/;

/** network_error_code (SMPP 3.4, 5.3.2.31): the kind of network, then a code of 16 bits. */
const ERROR_CODE_OCTETS = 3;
const ERROR_CODE_DIGITS = 3;

/**
 * Reads a receipt, by its TLVs first and by its text where they are silent; null where neither names a message. Never
 * throws. Whether the message is a receipt at all says `messageKind`.
 */
export function parseReceipt(pdu: MessagePdu): DeliveryReceipt | null {
  const { octets } = messageOctets(pdu);
  // ASCII in every alphabet that carriers use for it; letters that are not do not matter here.
  const text = decodeText(octets, pdu.fields.dataCoding, 'latin1');
  const messageId = idOfTlv(pdu) ?? ID_IN_TEXT.exec(text)?.[1] ?? null;
  if (messageId === null) return null;
  const outcome = outcomeOf(pdu, text);
  // An intermediate notification is never the last word.
  const isFinal = (pdu.fields.esmClass & INTERMEDIATE_NOTIFICATION) === 0;
  const state = isFinal ? (outcome?.state ?? 'undecided') : 'undecided';
  const networkError = state === 'undelivered' ? (errorOf(pdu, text) ?? outcome?.name ?? null) : null;
  return { messageId, state, networkError };
}

/** Peers leave the NUL of a C-octet string out, or put something behind it. */
function idOfTlv(pdu: MessagePdu): string | null {
  const [id = ''] = (tlvOctets(pdu, 'receipted_message_id')?.toString('latin1') ?? '').split('\0');
  return MESSAGE_ID.test(id) ? id : null;
}

function outcomeOf(pdu: MessagePdu, text: string): Outcome | null {
  const told = tlvInteger(pdu, 'message_state');
  const ofTlv = told === null ? undefined : OUTCOMES[told];
  if (ofTlv !== undefined) return ofTlv;
  const word = STATE_IN_TEXT.exec(text)?.[1]?.toUpperCase() ?? '';
  return OUTCOME_OF_WORD.get(word) ?? OUTCOME_OF_WORD.get(word.slice(0, WORD_LETTERS)) ?? null;
}

function errorOf(pdu: MessagePdu, text: string): string | null {
  const code = tlvOctets(pdu, 'network_error_code');
  if (code?.length === ERROR_CODE_OCTETS) {
    const told = String(code.readUInt16BE(1)).padStart(ERROR_CODE_DIGITS, '0');
    if (!NO_ERROR.test(told)) return told;
  }
  const inText = ERROR_IN_TEXT.exec(text)?.[1];
  return inText === undefined || NO_ERROR.test(inText) ? null : inText;
}
