import { STATUS, commandName } from '../pdu/dictionary.js';
import { layoutOfId } from './layout.js';
import type { CommandLayout, FieldSpec } from './layout.js';
import { messageFault } from './message-rules.js';
import type { FieldValue, MalformedPdu, Pdu, SmppAddress } from '../pdu/pdu.js';
import { MAX_TLVS, NO_TLVS, tlvFault } from '../pdu/tlv.js';
import type { Tlv } from '../pdu/tlv.js';

export const HEADER_OCTETS = 16;
/** Tag and length. */
const TLV_HEADER_OCTETS = 4;

export interface DecodeLimits {
  /** 254 in SMPP 3.4 (section 5.2.22), 255 in 5.0. */
  readonly shortMessageOctets: 254 | 255;
}
export const LIMITS_OF_34: DecodeLimits = { shortMessageOctets: 254 };
export const LIMITS_OF_50: DecodeLimits = { shortMessageOctets: 255 };

/** `YYMMDDhhmmsstnn` and the sign of the offset, or R for relative (SMPP 3.4 section 7.1.1). */
const TIME = /^[0-9]{15}[-+R]$/;
const TIME_CHARACTERS = 16;

/** Reads up to the first fault; every value returned after it is empty and must not be used. */
class Reader {
  fault = 0;
  reason = '';

  constructor(
    readonly octets: Buffer,
    public at: number,
    readonly end: number,
  ) {}

  fail(fault: number, reason: string): void {
    if (this.fault !== 0) return;
    this.fault = fault;
    this.reason = reason;
  }

  uint8(name: string): number {
    if (this.at >= this.end) {
      this.fail(STATUS.ESME_RINVCMDLEN, `the PDU ends before ${name}`);
      return 0;
    }
    return this.octets.readUInt8(this.at++);
  }

  cstring(name: string, limit: number, fault: number): string {
    const { octets, at } = this;
    const last = Math.min(this.end, at + limit + 1);
    let nul = at;
    while (nul < last && octets[nul] !== 0) nul++;
    if (nul === last) {
      if (last === this.end && last - at <= limit) {
        this.fail(STATUS.ESME_RINVCMDLEN, `the PDU ends inside ${name}`);
      } else {
        this.fail(fault, `${name} is longer than ${limit} octets`);
      }
      return '';
    }
    this.at = nul + 1;
    return nul === at ? '' : octets.toString('latin1', at, nul);
  }

  time(name: string, fault: number): string {
    const value = this.cstring(name, TIME_CHARACTERS, fault);
    if (value !== '' && !TIME.test(value)) this.fail(fault, `${name} is not a time of 16 characters`);
    return value;
  }

  address(name: string, limit: number, fault: number): SmppAddress {
    const ton = this.uint8(name);
    const npi = this.uint8(name);
    return { ton, npi, value: this.cstring(name, limit, fault) };
  }

  counted(name: string, limit: number, fault: number): Buffer {
    const length = this.uint8(name);
    const start = this.at;
    if (length > limit) this.fail(fault, `${name} is longer than ${limit} octets`);
    else if (start + length > this.end) this.fail(fault, `${name} is longer than the PDU`);
    this.at = Math.min(start + length, this.end);
    return this.octets.subarray(start, this.at);
  }
}

function readField(reader: Reader, spec: FieldSpec, limits: DecodeLimits): FieldValue {
  switch (spec.kind) {
    case 'uint8': {
      const value = reader.uint8(spec.name);
      if (spec.allows !== null && !spec.allows(value)) reader.fail(spec.fault, `${spec.name} has a reserved value`);
      return value;
    }
    case 'cstring':
      return reader.cstring(spec.name, spec.limit, spec.fault);
    case 'time':
      return reader.time(spec.name, spec.fault);
    case 'address':
      return reader.address(spec.name, spec.limit, spec.fault);
    case 'octets':
      return reader.counted(spec.name, limits.shortMessageOctets, spec.fault);
  }
}

/**
 * Whether the rest of a body is padding: fewer octets than a TLV header, all NUL. Some senders end a message with a NUL
 * that sm_length does not count.
 */
export function isPadding(octets: Buffer, start: number, end: number): boolean {
  if (end - start >= TLV_HEADER_OCTETS) return false;
  for (let at = start; at < end; at++) if (octets[at] !== 0) return false;
  return true;
}

function readTlvs(reader: Reader): readonly Tlv[] {
  const { octets, end } = reader;
  if (isPadding(octets, reader.at, end)) return NO_TLVS;
  const tlvs: Tlv[] = [];
  while (reader.fault === 0 && !isPadding(octets, reader.at, end)) {
    const start = reader.at + TLV_HEADER_OCTETS;
    const length = start > end ? 0 : octets.readUInt16BE(reader.at + 2);
    if (start + length > end || tlvs.length === MAX_TLVS) {
      reader.fail(STATUS.ESME_RINVTLVSTREAM, 'the TLVs do not end with the PDU, or are too many');
      break;
    }
    const tag = octets.readUInt16BE(reader.at);
    const fault = tlvFault(tag, length);
    if (fault !== STATUS.ESME_ROK) reader.fail(fault, `a TLV 0x${tag.toString(16)} of ${length} octets`);
    tlvs.push({ tag, value: octets.subarray(start, start + length) });
    reader.at = start + length;
  }
  return tlvs;
}

function malformed(signedId: number, sequence: number, status: number, reason: string): MalformedPdu {
  const id = signedId >>> 0;
  return { command: 'malformed', of: commandName(id), commandId: id, sequence, status, reason };
}

/** The table pairs each command with its fields, which the type system cannot check: the only cast of the codec. */
function assemble(
  layout: CommandLayout,
  status: number,
  sequence: number,
  fields: Readonly<Record<string, FieldValue>>,
  tlvs: readonly Tlv[],
): Pdu {
  const pdu: unknown = { command: layout.command, status, sequence, fields, tlvs };
  return pdu as Pdu;
}

/**
 * Decodes the PDU in `octets` from `start` to `end` (the framer checks command_length). Never throws: an unreadable
 * PDU becomes a MalformedPdu that carries the command_status to answer with. Buffers in the result are views of
 * `octets`. A response may lack its body, and must lack it when its status is not 0.
 */
export function decodePdu(
  octets: Buffer,
  start = 0,
  end = octets.length,
  limits: DecodeLimits = LIMITS_OF_34,
): Pdu | MalformedPdu {
  if (end - start < HEADER_OCTETS) return malformed(0, 0, STATUS.ESME_RINVCMDLEN, 'shorter than a PDU header');
  const signedId = octets.readInt32BE(start + 4);
  const sequence = octets.readUInt32BE(start + 12);
  const layout = layoutOfId(signedId);
  if (layout === undefined) return malformed(signedId, sequence, STATUS.ESME_RINVCMDID, 'command not supported');
  const status = octets.readUInt32BE(start + 8);
  if (layout.isResponse && end - start === HEADER_OCTETS) {
    return assemble(layout, status, sequence, layout.blank, NO_TLVS);
  }
  const reader = new Reader(octets, start + HEADER_OCTETS, end);
  const fields = { ...layout.blank };
  for (const spec of layout.fields) {
    fields[spec.name] = readField(reader, spec, limits);
    if (reader.fault !== 0) break;
  }
  const tlvs = reader.fault === 0 ? readTlvs(reader) : NO_TLVS;
  const fault = reader.fault === 0 ? messageFault(layout.command, fields, tlvs) : null;
  if (fault !== null) reader.fail(fault.status, fault.reason);
  if (reader.fault === 0) return assemble(layout, status, sequence, fields, tlvs);
  // The body of an error response is ignored: the waiting request needs its status.
  if (layout.isResponse && status !== 0) return assemble(layout, status, sequence, layout.blank, NO_TLVS);
  return malformed(signedId, sequence, reader.fault, reader.reason);
}
