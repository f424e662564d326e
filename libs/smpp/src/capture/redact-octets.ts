import { HEADER_OCTETS, isPadding } from '../codec/decode.js';
import { tlvDefinition, tlvTag } from '../pdu/dictionary.js';
import { beginsWithHeader, isReport } from '../pdu/esm-class.js';
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
const MESSAGE_PAYLOAD = tlvTag('message_payload');
const TLV_HEAD_OCTETS = 4;

/**
 * A field of a receipt, with what separates it from the next (SMPP 3.4 appendix B): those that `parseReceipt` reads, and
 * the counts and times beside them. Values are as narrow as carriers write them: six digits are no error and no time.
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
/** A label of a receipt at the beginning of a text, as in `beginsAsReceipt`. */
const BEGINS_AS_RECEIPT = /^\s*(?:id|sub|dlvrd|submit date|done date|stat(?:e|us)?|err(?:or)?|text)\s{0,2}:/i;
/** Octets in which that label is searched, in any alphabet. */
const LABEL_OCTETS = 48;
/** Between and before the letters of UCS-2. */
const UCS2_OCTETS = /[\0\u00fe\u00ff]/g;
/** Six digits that no further one touches, as octets or in UCS-2: a code that a report quotes. */
const CODE = /(?<![0-9]\0?)[0-9](?:\0?[0-9]){5}(?!\0?[0-9])/g;

/** Position in a PDU and the fields read so far that affect redaction. */
interface Cursor {
  readonly octets: Buffer;
  readonly keepText: boolean;
  /**
   * The PDU has a password field: in an unreadable PDU everything is masked, because the password may be misplaced.
   */
  readonly hasPassword: boolean;
  at: number;
  esmClass: number;
}

/**
 * Masks in place the parts of a PDU that a record must not hold: passwords always, message texts unless `keepText`, and then
 * still the codes that receipts quote, marked by esm_class or not, since nobody knows whose they are.
 * Header, fields and lengths stay, so the PDU is still decodable; so do a user data header and the fields with which
 * the text of a receipt begins. From the first unreadable octet on, and for commands and TLVs unknown to the dictionary,
 * everything is masked. Never throws.
 */
export function redactOctets(octets: Buffer, keepText: boolean): void {
  if (octets.length <= HEADER_OCTETS) return;
  const layout = layoutOfId(octets.readInt32BE(4));
  const hasPassword = layout !== undefined && WITH_PASSWORD.has(layout.command);
  const cursor: Cursor = { octets, keepText, hasPassword, at: HEADER_OCTETS, esmClass: 0 };
  const readable = layout?.fields.every((spec) => maskField(cursor, spec)) === true && maskTlvs(cursor);
  if (!readable && (hasPassword || !keepText)) octets.fill(MASK, Math.min(cursor.at, octets.length));
}

/** False when the PDU ends before the field does. */
function maskField(cursor: Cursor, spec: FieldSpec): boolean {
  const { octets, at } = cursor;
  switch (spec.kind) {
    case 'uint8':
      if (spec.name === 'esmClass') cursor.esmClass = octets[at] ?? 0;
      cursor.at += 1;
      return cursor.at <= octets.length;
    case 'octets': {
      const end = at + 1 + (octets[at] ?? 0);
      if (at >= octets.length || end > octets.length) return false;
      maskText(cursor, at + 1, end);
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

function maskTlvs(cursor: Cursor): boolean {
  const { octets } = cursor;
  while (!isPadding(octets, cursor.at, octets.length)) {
    const start = cursor.at + TLV_HEAD_OCTETS;
    if (start > octets.length) return false;
    const tag = octets.readUInt16BE(cursor.at);
    const end = start + octets.readUInt16BE(cursor.at + 2);
    if (end > octets.length) return false;
    if (tag === MESSAGE_PAYLOAD) maskText(cursor, start, end);
    // A vendor TLV may hold anything.
    else if (tlvDefinition(tag) === undefined && !cursor.keepText) octets.fill(MASK, start, end);
    cursor.at = end;
  }
  return true;
}

function maskText({ octets, keepText, esmClass }: Cursor, start: number, end: number): void {
  const value = octets.subarray(start, end);
  if (keepText) {
    if (isReport(esmClass) || beginsAsReceipt(value, esmClass)) maskCodes(value);
    return;
  }
  value.fill(MASK, Math.min(headOf(value, esmClass), value.length));
}

/** Whether a text begins as a receipt, in ASCII or UCS-2: some carriers do not mark receipts by esm_class. */
function beginsAsReceipt(value: Buffer, esmClass: number): boolean {
  const start = beginsWithHeader(esmClass) ? headerOctets(value) : 0;
  const head = value.subarray(start, start + LABEL_OCTETS).toString('latin1');
  return BEGINS_AS_RECEIPT.test(head.replaceAll(UCS2_OCTETS, ''));
}

/** Behind the fields with which a receipt begins. */
function maskCodes(value: Buffer): void {
  const text = value.toString('latin1');
  const head = receiptOctets(text);
  for (const { index, 0: code } of text.slice(head).matchAll(CODE)) {
    for (let at = head + index; at < head + index + code.length; at += 1) if (value[at] !== 0) value[at] = MASK;
  }
}

/** Leading octets of a text that are not text: its user data header, or the fields of a receipt. */
function headOf(value: Buffer, esmClass: number): number {
  if (beginsWithHeader(esmClass)) return headerOctets(value);
  return isReport(esmClass) ? receiptOctets(value.toString('latin1')) : 0;
}

/** 0 unless the elements fill the header exactly: then the octets are a text (3GPP TS 23.040 section 9.2.3.24). */
function headerOctets(value: Buffer): number {
  const end = 1 + (value[0] ?? 0);
  if (end > value.length) return 0;
  let at = 1;
  while (at < end) at += 2 + (value[at + 1] ?? end);
  return at === end ? end : 0;
}

/** The fields at the beginning of a receipt, each at most once, with the label of the quotation behind them. */
function receiptOctets(text: string): number {
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
