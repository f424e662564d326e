import { commandId } from '../pdu/dictionary.js';
import { HEADER_OCTETS } from './decode.js';
import { layoutOfCommand } from './layout.js';
import type { CommandLayout, FieldSpec } from './layout.js';
import type { FieldValue, Pdu, SmppAddress } from '../pdu/pdu.js';
import { tlvFault } from '../pdu/tlv.js';
import type { Tlv } from '../pdu/tlv.js';

/** Largest PDU that either side of a link may send, in octets: a message_payload of 64 KiB and its headers. */
export const MAX_PDU_OCTETS = 70_000;
const MAX_SHORT_MESSAGE_OCTETS = 255;
const TIME_CHARACTERS = 16;

/** A field that cannot be encoded. The message names the field and its limit, never the value. */
export class InvalidPduError extends Error {
  constructor(command: string, reason: string) {
    super(`${command}: ${reason}`);
    this.name = 'InvalidPduError';
  }
}

function cstringOctets(value: FieldValue | undefined, limit: number): number | null {
  if (typeof value !== 'string' || value.length > limit) return null;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code === 0 || code > 0xff) return null;
  }
  return value.length + 1;
}

const isUint8 = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xff;

const isAddress = (value: FieldValue | undefined): value is SmppAddress =>
  typeof value === 'object' && 'npi' in value && isUint8(value.ton) && isUint8(value.npi);

/** Encoded length of a field in octets; null when its value does not fit. */
function fieldOctets(spec: FieldSpec, value: FieldValue | undefined): number | null {
  switch (spec.kind) {
    case 'uint8':
      return isUint8(value) ? 1 : null;
    case 'cstring':
      return cstringOctets(value, spec.limit);
    case 'time':
      return value === '' || (typeof value === 'string' && value.length === TIME_CHARACTERS)
        ? cstringOctets(value, TIME_CHARACTERS)
        : null;
    case 'address': {
      const text = isAddress(value) ? cstringOctets(value.value, spec.limit) : null;
      return text === null ? null : text + 2;
    }
    case 'octets':
      return Buffer.isBuffer(value) && value.length <= MAX_SHORT_MESSAGE_OCTETS ? value.length + 1 : null;
  }
}

/**
 * Octets of the body of a refusal, in which every field is empty or zero. Without an entry it is a header only. For binds
 * SMPP 3.4 (section 4.1.2) allows both, and some peers read a system_id from every response. The others are responses
 * whose body it does not make optional: query_sm (4.8.2), submit_multi (4.5.2) and those of broadcasts (5.0, 4.4).
 */
const REFUSAL_BODY_OCTETS: ReadonlyMap<number, number> = new Map([
  [commandId('bind_receiver_resp'), 1],
  [commandId('bind_transmitter_resp'), 1],
  [commandId('bind_transceiver_resp'), 1],
  [commandId('query_sm_resp'), 4],
  [commandId('submit_multi_resp'), 2],
  [commandId('broadcast_sm_resp'), 1],
  [commandId('query_broadcast_sm_resp'), 1],
]);

/** An error response is a header only (SMPP 3.4 section 4.4.2), unless it carries TLVs as 5.0 allows. */
const isBare = (layout: CommandLayout, pdu: Pdu): boolean =>
  layout.isResponse && pdu.status !== 0 && pdu.tlvs.length === 0 && !REFUSAL_BODY_OCTETS.has(layout.id);

const isUint32 = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;

/** Encoded length of the PDU in octets. Throws InvalidPduError when a field or TLV exceeds its limits. */
export function encodedLength(pdu: Pdu): number {
  const layout = layoutOfCommand(pdu.command);
  if (!isUint32(pdu.status) || !isUint32(pdu.sequence)) throw new InvalidPduError(pdu.command, 'header out of range');
  if (isBare(layout, pdu)) return HEADER_OCTETS;
  const fields: Readonly<Record<string, FieldValue>> = pdu.fields;
  let length = HEADER_OCTETS;
  for (const spec of layout.fields) {
    const octets = fieldOctets(spec, fields[spec.name]);
    if (octets === null) throw new InvalidPduError(pdu.command, `${spec.name} does not fit its field`);
    length += octets;
  }
  for (const { tag, value } of pdu.tlvs) {
    if (tlvFault(tag, value.length) !== 0 || value.length > 0xffff) {
      throw new InvalidPduError(pdu.command, `TLV 0x${tag.toString(16)} cannot have ${value.length} octets`);
    }
    length += 4 + value.length;
  }
  if (length > MAX_PDU_OCTETS) throw new InvalidPduError(pdu.command, `longer than ${MAX_PDU_OCTETS} octets`);
  return length;
}

function writeCString(target: Buffer, at: number, value: string): number {
  // Latin-1 copied in a loop: for strings this short, Buffer.write costs more than the copy.
  for (let i = 0; i < value.length; i++) target[at + i] = value.charCodeAt(i);
  target[at + value.length] = 0;
  return at + value.length + 1;
}

function writeField(target: Buffer, at: number, value: FieldValue | undefined): number {
  if (typeof value === 'number') return target.writeUInt8(value, at);
  if (typeof value === 'string') return writeCString(target, at, value);
  if (Buffer.isBuffer(value)) {
    target[at] = value.length;
    return at + 1 + value.copy(target, at + 1);
  }
  if (value === undefined) return at;
  target[at] = value.ton;
  target[at + 1] = value.npi;
  return writeCString(target, at + 2, value.value);
}

function writeTlvs(target: Buffer, start: number, tlvs: readonly Tlv[]): number {
  let at = start;
  for (const { tag, value } of tlvs) {
    target.writeUInt16BE(tag, at);
    target.writeUInt16BE(value.length, at + 2);
    at += 4 + value.copy(target, at + 4);
  }
  return at;
}

function writeHeader(target: Buffer, at: number, length: number, id: number, status: number, sequence: number): void {
  target.writeUInt32BE(length, at);
  target.writeUInt32BE(id, at + 4);
  target.writeUInt32BE(status, at + 8);
  target.writeUInt32BE(sequence, at + 12);
}

/** Length of a refusal in octets. */
export const refusalLength = (id: number): number => HEADER_OCTETS + (REFUSAL_BODY_OCTETS.get(id) ?? 0);

/** A response to a request that is refused before its fields are used, or that has no layout. */
export interface Refusal {
  /** The command_id of the response. */
  readonly id: number;
  readonly status: number;
  readonly sequence: number;
}

/** Writes a refusal into `target` from `start` to `end`, which are `refusalLength` octets apart. */
export function writeRefusal({ id, status, sequence }: Refusal, target: Buffer, start: number, end: number): void {
  target.fill(0, start, end);
  writeHeader(target, start, end - start, id, status, sequence);
}

/** Writes a PDU of `length` octets (from `encodedLength`) into `target` at `start`. */
export function writePdu(pdu: Pdu, length: number, target: Buffer, start: number): void {
  const layout = layoutOfCommand(pdu.command);
  writeHeader(target, start, length, layout.id, pdu.status, pdu.sequence);
  if (length === HEADER_OCTETS) return;
  const fields: Readonly<Record<string, FieldValue>> = pdu.fields;
  let at = start + HEADER_OCTETS;
  for (const spec of layout.fields) at = writeField(target, at, fields[spec.name]);
  writeTlvs(target, at, pdu.tlvs);
}

/** Encodes a PDU into a new buffer. Throws InvalidPduError when a field or TLV exceeds its limits. */
export function encodePdu(pdu: Pdu): Buffer {
  const length = encodedLength(pdu);
  const octets = Buffer.allocUnsafe(length);
  writePdu(pdu, length, octets, 0);
  return octets;
}
