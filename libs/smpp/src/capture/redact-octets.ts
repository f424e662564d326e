import { HEADER_OCTETS } from '../codec/decode.js';
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

/** A receipt quotes the message it is about behind this word (SMPP 3.4 appendix B). */
const QUOTE = 'text:';

/** Where a walk through a PDU stands; what it has learned on the way. */
interface Walk {
  readonly octets: Buffer;
  readonly keepText: boolean;
  /** One of the fields is a password: nothing is kept that may be it in the wrong place. */
  readonly hasPassword: boolean;
  at: number;
  esmClass: number;
}

/**
 * Masks, in place, what a record of a PDU must not hold: passwords always, and texts unless they are to be kept. The
 * octets of header, fields and lengths stay, so that the PDU still reads as what it was; so do a user data header and
 * what a receipt says before its quotation. What cannot be read to its end is masked from there on, as are commands and
 * TLVs that the dictionary does not know. Never throws.
 */
export function redactOctets(octets: Buffer, keepText: boolean): void {
  if (octets.length <= HEADER_OCTETS) return;
  const layout = layoutOfId(octets.readInt32BE(4));
  const hasPassword = layout !== undefined && WITH_PASSWORD.has(layout.command);
  const walk: Walk = { octets, keepText, hasPassword, at: HEADER_OCTETS, esmClass: 0 };
  const readable = layout?.fields.every((spec) => passField(walk, spec)) === true && passTlvs(walk);
  if (!readable && (hasPassword || !keepText)) octets.fill(MASK, Math.min(walk.at, octets.length));
}

/** False when the PDU ends before the field does. */
function passField(walk: Walk, spec: FieldSpec): boolean {
  const { octets, at } = walk;
  switch (spec.kind) {
    case 'uint8':
      if (spec.name === 'esmClass') walk.esmClass = octets[at] ?? 0;
      walk.at += 1;
      return walk.at <= octets.length;
    case 'octets': {
      const end = at + 1 + (octets[at] ?? 0);
      if (at >= octets.length || end > octets.length) return false;
      maskText(walk, at + 1, end);
      walk.at = end;
      return true;
    }
    default: {
      const start = spec.kind === 'address' ? at + 2 : at;
      let end = start;
      while (end < octets.length && octets[end] !== 0) end++;
      if (end >= octets.length || (walk.hasPassword && spec.kind === 'cstring' && end - start > spec.limit))
        return false;
      if (spec.name === PASSWORD) octets.fill(MASK, start, end);
      walk.at = end + 1;
      return true;
    }
  }
}

function passTlvs(walk: Walk): boolean {
  const { octets } = walk;
  while (walk.at < octets.length) {
    const start = walk.at + TLV_HEAD_OCTETS;
    if (start > octets.length) return false;
    const tag = octets.readUInt16BE(walk.at);
    const end = start + octets.readUInt16BE(walk.at + 2);
    if (end > octets.length) return false;
    if (tag === MESSAGE_PAYLOAD) maskText(walk, start, end);
    // A vendor's tag may hold anything.
    else if (tlvDefinition(tag) === undefined && !walk.keepText) octets.fill(MASK, start, end);
    walk.at = end;
  }
  return true;
}

function maskText({ octets, keepText, esmClass }: Walk, start: number, end: number): void {
  if (keepText) return;
  const value = octets.subarray(start, end);
  value.fill(MASK, Math.min(headOf(value, esmClass), value.length));
}

/** How many octets of a text are none: its user data header, or what a receipt says for itself. */
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
