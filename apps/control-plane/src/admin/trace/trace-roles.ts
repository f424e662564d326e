import type { AdminRole } from '@countersign/accounts/admin-keys';
import { maskPhone, maskPhonesIn } from '@countersign/phone';
import { hasRight } from '../../http/admin-policy.js';
import type { Plain } from '../crud/plain.js';
import type { TracedPduView, TraceView } from './trace.view.js';

type Pdu = Plain<TracedPduView>;

/** Hexadecimal digits of the header of a PDU: length, command, status and sequence (SMPP 3.4, 3.2). */
const HEADER_DIGITS = 2 * 16;

/**
 * The trace that a role may see. Without the rights: no recorded texts (only the octets contain them) and no addresses.
 */
export function traceForRole(role: AdminRole, trace: Plain<TraceView>): Plain<TraceView> {
  const readsTexts = hasRight(role, 'readRecordedTexts');
  const readsPersonalData = hasRight(role, 'readPersonalData');
  if (readsTexts && readsPersonalData) return trace;
  // The octets contain texts and addresses: without either right only the header of a PDU is shown.
  const shown = (pdu: Pdu): Pdu => ({
    ...pdu,
    ...(readsPersonalData ? {} : { fields: withoutAddresses(pdu.fields) }),
    octets: pdu.octets.slice(0, HEADER_DIGITS),
  });
  return {
    ...trace,
    connections: trace.connections.map((connection) => ({ ...connection, pdus: connection.pdus.map(shown) })),
  };
}

const withoutAddresses = (fields: Pdu['fields']): Pdu['fields'] =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, fieldForViewer(value)]));

/** An address is an object of `ton`, `npi` and `value`; gateways of other versions may send other shapes. */
function fieldForViewer(value: unknown): unknown {
  if (typeof value === 'string') return maskPhonesIn(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fieldForViewer);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      name === 'value' && typeof member === 'string' ? maskPhone(member) : fieldForViewer(member),
    ]),
  );
}
