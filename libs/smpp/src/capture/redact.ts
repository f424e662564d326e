import { statusName, tlvDefinition } from '../pdu/dictionary.js';
import type { FieldValue, Pdu, SmppAddress } from '../pdu/pdu.js';

const HIDDEN = '[redacted]';
const SECRET_FIELDS: ReadonlySet<string> = new Set(['password']);
const INTEGER_TLV_OCTETS = 4;

function hideMiddle(address: string): string {
  return address.length <= 6 ? '*'.repeat(address.length) : `${address.slice(0, 4)}…${address.slice(-2)}`;
}

type MaskAddress = (address: string) => string;

function fieldForLog(name: string, value: FieldValue, mask: MaskAddress): unknown {
  if (SECRET_FIELDS.has(name)) return HIDDEN;
  if (Buffer.isBuffer(value)) return `[${value.length} octets]`;
  if (typeof value !== 'object') return value;
  const { ton, npi, value: address }: SmppAddress = value;
  return { ton, npi, value: mask(address) };
}

/**
 * A PDU for a log: no password, no text (lengths only), addresses masked. TLV values are shown only for integers of
 * the dictionary: a vendor TLV may hold anything.
 */
export function redactPdu(pdu: Pdu, mask: MaskAddress = hideMiddle): Record<string, unknown> {
  const fields: Readonly<Record<string, FieldValue>> = pdu.fields;
  const shown = Object.entries(fields).map(([name, value]) => [name, fieldForLog(name, value, mask)] as const);
  const tlvs = pdu.tlvs.map(({ tag, value }) => {
    const definition = tlvDefinition(tag);
    const isShort = value.length > 0 && value.length <= INTEGER_TLV_OCTETS;
    const isInteger = isShort && definition?.kind.startsWith('int') === true;
    const name = definition?.name ?? `0x${tag.toString(16).padStart(4, '0')}`;
    return [name, isInteger ? value.readUIntBE(0, value.length) : `[${value.length} octets]`] as const;
  });
  return {
    command: pdu.command,
    status: statusName(pdu.status),
    sequence: pdu.sequence,
    ...Object.fromEntries(shown),
    ...(tlvs.length === 0 ? {} : { tlvs: Object.fromEntries(tlvs) }),
  };
}
