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

/** A receipt quotes the original message after this label (SMPP 3.4 appendix B). */
const QUOTE = 'text:';

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
 * Masks in place the parts of a PDU that a record must not hold: passwords always, message texts unless `keepText`.
 * Header, fields and lengths stay, so the PDU is still decodable; so do a user data header and the part of a receipt
 * before its quotation. From the first unreadable octet on, and for commands and TLVs unknown to the dictionary,
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
  if (keepText) return;
  const value = octets.subarray(start, end);
  value.fill(MASK, Math.min(headOf(value, esmClass), value.length));
}

/** Leading octets of a text that are not text: its user data header, or the fields of a receipt. */
function headOf(value: Buffer, esmClass: number): number {
  if (beginsWithHeader(esmClass)) {
    const header = 1 + (value[0] ?? 0);
    return header <= value.length ? header : 0;
  }
  if (!isReport(esmClass)) return 0;
  const text = value.toString('latin1').toLowerCase();
  if (!text.startsWith('id:')) return 0;
  const quote = text.indexOf(QUOTE);
  return quote < 0 ? value.length : quote + QUOTE.length;
}
