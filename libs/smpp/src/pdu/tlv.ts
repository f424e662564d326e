import { STATUS, tlvDefinition, tlvTag } from './dictionary.js';
import type { TlvKind, TlvName } from './dictionary.js';

/** An optional parameter as encoded; `value` is a view of the octets read. */
export interface Tlv {
  readonly tag: number;
  readonly value: Buffer;
}

interface WithTlvs {
  readonly tlvs: readonly Tlv[];
}

export const NO_TLVS: readonly Tlv[] = Object.freeze([]);

/** Length of integer TLVs; any other length is ESME_RINVTLVLEN. */
const INTEGER_OCTETS: Readonly<Partial<Record<TlvKind, number>>> = { int8: 1, int16: 2, int32: 4 };
/**
 * Exceptions from the dictionary's lengths, where it is wrong or the versions differ; the first is the one we write.
 * source_telematics_id has one octet (3.4 section 5.3.2.8), two as npm smpp writes it; alert_on_message_delivery has
 * no value in 3.4 and may have one in 5.0; dest_addr_np_country is a string of up to five octets.
 */
const OCTETS_OF_TAG: ReadonlyMap<number, readonly number[]> = new Map([
  [tlvTag('source_telematics_id'), [1, 2]],
  [tlvTag('alert_on_message_delivery'), [1, 0]],
  [tlvTag('dest_addr_np_country'), [4, 1, 2, 3, 5]],
]);
/** SMPP 3.4 section 5.3.2.12: longest C-octet TLV (additional_status_info_text, 256). */
const LONGEST_CSTRING_OCTETS = 256;
/** Maximum number of TLVs in one PDU: more than either version defines. */
export const MAX_TLVS = 256;

/** The value of the first TLV of that name, or null. */
export function tlvOctets(pdu: WithTlvs, name: TlvName): Buffer | null {
  if (pdu.tlvs.length === 0) return null;
  const tag = tlvTag(name);
  for (const tlv of pdu.tlvs) if (tlv.tag === tag) return tlv.value;
  return null;
}

/** An integer TLV of 1, 2 or 4 octets (the codec has checked its length), or null. */
export function tlvInteger(pdu: WithTlvs, name: TlvName): number | null {
  const octets = tlvOctets(pdu, name);
  return octets === null || octets.length === 0 || octets.length > 4 ? null : octets.readUIntBE(0, octets.length);
}

export function octetsTlv(name: TlvName, value: Uint8Array): Tlv {
  return { tag: tlvTag(name), value: Buffer.from(value) };
}

/** Throws RangeError when the TLV is not an integer or the value does not fit it. */
export function integerTlv(name: TlvName, value: number): Tlv {
  const tag = tlvTag(name);
  const octets = OCTETS_OF_TAG.get(tag)?.[0] ?? INTEGER_OCTETS[tlvDefinition(tag)?.kind ?? 'buffer'];
  if (octets === undefined) throw new RangeError(`${name} is not an integer TLV`);
  const buffer = Buffer.alloc(octets);
  buffer.writeUIntBE(value, 0, octets);
  return { tag, value: buffer };
}

/** A C-octet TLV, NUL included. */
export function textTlv(name: TlvName, value: string): Tlv {
  return { tag: tlvTag(name), value: Buffer.from(`${value}\0`, 'latin1') };
}

/** 0, or the status for a TLV with an invalid length. Unknown tags may have any length. */
export function tlvFault(tag: number, octets: number): number {
  const kind = tlvDefinition(tag)?.kind;
  if (kind === undefined || kind === 'buffer' || kind === 'string') return STATUS.ESME_ROK;
  const expected = INTEGER_OCTETS[kind];
  if (expected !== octets && OCTETS_OF_TAG.get(tag)?.includes(octets) === true) return STATUS.ESME_ROK;
  const right = expected === undefined ? octets <= LONGEST_CSTRING_OCTETS : octets === expected;
  return right ? STATUS.ESME_ROK : STATUS.ESME_RINVTLVLEN;
}
