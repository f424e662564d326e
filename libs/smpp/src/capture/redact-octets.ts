import { asciiReadings, mayBeReceipt, receiptFieldsLength } from '@countersign/text';
import { HEADER_OCTETS, isPadding } from '../codec/decode.js';
import { tlvDefinition, tlvTag } from '../pdu/dictionary.js';
import { beginsWithHeader, isReport, MESSAGE, messageType } from '../pdu/esm-class.js';
import { layoutOfId } from '../codec/layout.js';
import type { FieldSpec } from '../codec/layout.js';
import type { CommandName } from '../pdu/pdu.js';

const MASK = 0x2a;
const PASSWORD = 'password';
const WITH_PASSWORD: ReadonlySet<CommandName> = new Set<CommandName>([
  'bind_receiver',
  'bind_transmitter',
  'bind_transceiver',
  'outbind',
]);
const MESSAGES: ReadonlySet<CommandName | undefined> = new Set(['submit_sm', 'deliver_sm', 'data_sm']);
const ANSWERS: ReadonlySet<CommandName | undefined> = new Set(['submit_sm_resp', 'deliver_sm_resp', 'data_sm_resp']);
const MESSAGE_PAYLOAD = tlvTag('message_payload');
const STATUS_TEXT = tlvTag('additional_status_info_text');
/** TLVs of words; a vendor TLV may hold anything. */
const WORDS: ReadonlySet<number> = new Set([MESSAGE_PAYLOAD, STATUS_TEXT, tlvTag('callback_num_atag')]);
const OF_RECEIPT: ReadonlySet<number> = new Set([tlvTag('receipted_message_id'), tlvTag('message_state')]);
const TLV_HEAD_OCTETS = 4;
const INTEGER_OCTETS = 4;

/** Octets in which labels of a receipt are searched, as `parseReceipt` does. */
const FIELDS_OCTETS = 2_048;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

interface Range {
  readonly start: number;
  readonly end: number;
}

interface TlvRange extends Range {
  readonly tag: number;
}

/** Position in a PDU and what was read so far that affects redaction. */
interface Cursor {
  readonly octets: Buffer;
  /**
   * The PDU has a password field: in an unreadable PDU everything is masked, because the password may be misplaced.
   */
  readonly hasPassword: boolean;
  /** Of short_message and message_payload. */
  readonly texts: Range[];
  /** The other TLVs. */
  readonly tlvs: TlvRange[];
  at: number;
  esmClass: number;
}

/**
 * Masks in place the parts of a PDU that a record must not hold: passwords always, message texts unless `keepText`, and also
 * then those of everything that may be a receipt (see `isAboutMessage`), since it may quote a code, and nobody knows whose.
 * Header, fields and lengths stay, so the PDU is still decodable; so do a user data header and the fields with which
 * the text of a receipt begins. Of the words in an answer to a message the digits are masked. From the first unreadable octet
 * on, and for commands and TLVs unknown to the dictionary, everything is masked. Never throws.
 */
export function redactOctets(octets: Buffer, keepText: boolean): void {
  if (octets.length <= HEADER_OCTETS) return;
  const layout = layoutOfId(octets.readInt32BE(4));
  const hasPassword = layout !== undefined && WITH_PASSWORD.has(layout.command);
  const cursor: Cursor = { octets, hasPassword, texts: [], tlvs: [], at: HEADER_OCTETS, esmClass: 0 };
  const readable = layout?.fields.every((spec) => readField(cursor, spec)) === true && readTlvs(cursor);
  if (readable) cursor.at = octets.length;
  const rest = { start: Math.min(cursor.at, octets.length), end: octets.length };
  const keepsText = keepText && !(MESSAGES.has(layout?.command) && isAboutMessage(cursor, rest));
  for (const text of cursor.texts) if (!keepsText) maskText(cursor, text, keepText);
  const isAnswer = ANSWERS.has(layout?.command);
  for (const tlv of cursor.tlvs) if (hasWords(tlv)) maskTlv(octets, tlv, keepsText, isAnswer);
  if (hasPassword || !keepsText) octets.fill(MASK, rest.start, rest.end);
}

/** False when the PDU ends before the field does. Masks passwords. */
function readField(cursor: Cursor, spec: FieldSpec): boolean {
  const { octets, at } = cursor;
  switch (spec.kind) {
    case 'uint8':
      if (spec.name === 'esmClass') cursor.esmClass = octets[at] ?? 0;
      cursor.at += 1;
      return cursor.at <= octets.length;
    case 'octets': {
      const end = at + 1 + (octets[at] ?? 0);
      if (at >= octets.length || end > octets.length) return false;
      cursor.texts.push({ start: at + 1, end });
      cursor.at = end;
      return true;
    }
    default: {
      const start = spec.kind === 'address' ? at + 2 : at;
      let end = start;
      while (end < octets.length && octets[end] !== 0) end++;
      if (end >= octets.length || (cursor.hasPassword && spec.kind === 'cstring' && end - start > spec.limit))
        return false;
      if (spec.name === PASSWORD) octets.fill(MASK, start, end);
      cursor.at = end + 1;
      return true;
    }
  }
}

function readTlvs(cursor: Cursor): boolean {
  const { octets, texts, tlvs } = cursor;
  while (!isPadding(octets, cursor.at, octets.length)) {
    const start = cursor.at + TLV_HEAD_OCTETS;
    if (start > octets.length) return false;
    const tag = octets.readUInt16BE(cursor.at);
    const end = start + octets.readUInt16BE(cursor.at + 2);
    if (end > octets.length) return false;
    if (tag === MESSAGE_PAYLOAD) texts.push({ start, end });
    else tlvs.push({ tag, start, end });
    cursor.at = end;
  }
  return true;
}

/**
 * Whether the PDU may report on a message of ours: by the type in esm_class, acknowledgements included, by a TLV of receipts,
 * or by a text, or unreadable octets, with the labels of a receipt in any alphabet. Some carriers mark receipts by one of
 * them alone.
 */
function isAboutMessage({ octets, esmClass, texts, tlvs }: Cursor, rest: Range): boolean {
  if (messageType(esmClass) !== MESSAGE || tlvs.some(({ tag }) => OF_RECEIPT.has(tag))) return true;
  return [...texts, rest].some(({ start, end }) => {
    const text = octets.subarray(start, end);
    const head = beginsWithHeader(esmClass) ? headerOctets(text) : 0;
    const searched = text.subarray(head, head + FIELDS_OCTETS);
    for (const reading of asciiReadings(searched)) if (mayBeReceipt(reading)) return true;
    return false;
  });
}

/** `showsFields`: of a receipt that esm_class does not mark, too. A phone's user can write such a text. */
function maskText({ octets, esmClass }: Cursor, { start, end }: Range, showsFields: boolean): void {
  const value = octets.subarray(start, end);
  const header = beginsWithHeader(esmClass) ? headerOctets(value) : 0;
  const hasFields = showsFields || isReport(esmClass);
  const fields = hasFields ? receiptFieldsLength(value.toString('latin1', header)) : 0;
  value.fill(MASK, header + fields);
}

function hasWords({ tag, start, end }: TlvRange): boolean {
  const definition = tlvDefinition(tag);
  if (definition === undefined || WORDS.has(tag)) return true;
  return definition.kind.startsWith('int') && end - start > INTEGER_OCTETS;
}

/** The status text of an answer to a message is the carrier's reason: it stays without its digits, and only it does without texts. */
function maskTlv(octets: Buffer, { tag, start, end }: TlvRange, keepsText: boolean, isAnswer: boolean): void {
  const keepsWords = keepsText || (isAnswer && tag === STATUS_TEXT);
  if (!keepsWords) octets.fill(MASK, start, end);
  else if (isAnswer) maskDigits(octets.subarray(start, end));
}

function maskDigits(value: Buffer): void {
  for (const [at, octet] of value.entries()) if (octet >= DIGIT_0 && octet <= DIGIT_9) value[at] = MASK;
}

/** 0 unless the elements fill the header exactly: then the octets are a text (3GPP TS 23.040 section 9.2.3.24). */
function headerOctets(value: Buffer): number {
  const end = 1 + (value[0] ?? 0);
  if (end > value.length) return 0;
  let at = 1;
  while (at < end) at += 2 + (value[at + 1] ?? end);
  return at === end ? end : 0;
}
