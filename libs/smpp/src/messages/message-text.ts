import { fillBitsAfter } from '@countersign/text';
import { beginsWithHeader, isReport, MESSAGE, messageType } from '../pdu/esm-class.js';
import { tlvInteger, tlvOctets } from '../pdu/tlv.js';
import type { MessagePdu } from '../pdu/pdu.js';

/** 3GPP TS 23.040 section 9.2.3.24: the information elements before a text. */
export interface UserDataHeader {
  readonly elements: readonly { readonly identifier: number; readonly data: Buffer }[];
  /** All octets of the header, including its length octet. */
  readonly octets: Buffer;
  /** Bits of padding before the first septet of a packed GSM text (0 to 6); other alphabets have none. */
  readonly fillBits: number;
}

export interface MessageOctets {
  /** The text's octets as received, without the header; decode them by data_coding. */
  readonly octets: Buffer;
  /** Null when there is no header or it is malformed (then `octets` is the whole text). */
  readonly udh: UserDataHeader | null;
}

export interface Concatenation {
  readonly reference: number;
  readonly referenceBits: 8 | 16;
  readonly total: number;
  /** 1 to `total`. */
  readonly part: number;
}

function parseUserDataHeader(octets: Buffer): UserDataHeader | null {
  const end = (octets[0] ?? octets.length) + 1;
  if (end > octets.length) return null;
  const elements: { identifier: number; data: Buffer }[] = [];
  let at = 1;
  while (at < end) {
    const dataEnd = at + 2 + (octets[at + 1] ?? end);
    if (dataEnd > end) return null;
    elements.push({ identifier: octets[at] ?? 0, data: octets.subarray(at + 2, dataEnd) });
    at = dataEnd;
  }
  return { elements, octets: octets.subarray(0, end), fillBits: fillBitsAfter(end) };
}

const NO_TEXT = Buffer.alloc(0);

/** short_message or message_payload (the codec rejects both together), with a user data header if there is one. */
export function textField(pdu: MessagePdu): Buffer {
  const short = pdu.command === 'data_sm' ? null : pdu.fields.shortMessage;
  return short !== null && short.length > 0 ? short : (tlvOctets(pdu, 'message_payload') ?? NO_TEXT);
}

/** The text of a message, header split off. */
export function messageOctets(pdu: MessagePdu): MessageOctets {
  const whole = textField(pdu);
  const udh = beginsWithHeader(pdu.fields.esmClass) ? parseUserDataHeader(whole) : null;
  return { octets: udh === null ? whole : whole.subarray(udh.octets.length), udh };
}

const inRange = (total: number, part: number): boolean => total >= 1 && part >= 1 && part <= total;

function concatenationOfHeader(udh: UserDataHeader): Concatenation | null {
  for (const { identifier, data } of udh.elements) {
    const referenceBits = identifier === 0x00 ? 8 : identifier === 0x08 ? 16 : null;
    if (referenceBits === null || data.length !== referenceBits / 8 + 2) continue;
    const reference = data.readUIntBE(0, referenceBits / 8);
    const total = data.readUInt8(data.length - 2);
    const part = data.readUInt8(data.length - 1);
    if (inRange(total, part)) return { reference, referenceBits, total, part };
  }
  return null;
}

/**
 * Reads the concatenation of a part: information element 00 or 08 of the header, else the three SAR TLVs. Incomplete
 * or contradictory values give null (SMPP 3.4 section 5.3.2.22, 3GPP TS 23.040 section 9.2.3.24.1). Pass `messageOctets`
 * of the PDU where it is at hand, so that the header is not parsed twice.
 */
export function concatenationOf(pdu: MessagePdu, { udh }: MessageOctets = messageOctets(pdu)): Concatenation | null {
  const ofHeader = udh === null ? null : concatenationOfHeader(udh);
  if (ofHeader !== null || pdu.tlvs.length === 0) return ofHeader;
  const reference = tlvInteger(pdu, 'sar_msg_ref_num');
  const total = tlvInteger(pdu, 'sar_total_segments');
  const part = tlvInteger(pdu, 'sar_segment_seqnum');
  if (reference === null || total === null || part === null || !inRange(total, part)) return null;
  return { reference, referenceBits: 16, total, part };
}

/** The kind of message by esm_class: only `message` is an MO; the others report on one of our messages. */
export function messageKind(pdu: MessagePdu): 'message' | 'receipt' | 'acknowledgement' {
  const { esmClass } = pdu.fields;
  if (messageType(esmClass) === MESSAGE) return 'message';
  return isReport(esmClass) ? 'receipt' : 'acknowledgement';
}
