import { VERSION_34, type BindTerms } from './bind-terms.js';
import { isBound, maySend, requestKind } from './link-state.js';
import type { LinkRole, LinkState } from './link-state.js';
import type { EnquireLink, MessagePdu, Outgoing } from '../pdu/pdu.js';
import { NO_TLVS, tlvOctets } from '../pdu/tlv.js';

interface Sender {
  readonly role: LinkRole;
  readonly state: LinkState;
  readonly terms: BindTerms | null;
}

/** Why a request may not go to this peer now; null when it may. */
export function refusalOf(pdu: Outgoing<MessagePdu | EnquireLink>, { role, state, terms }: Sender): string | null {
  if (terms === null || !isBound(state) || !maySend(role, state, requestKind(pdu.command))) {
    return `${pdu.command} by the role ${role} in state ${state}`;
  }
  return pdu.command === 'enquire_link' ? null : refusalOfMessage(pdu, terms);
}

function refusalOfMessage(pdu: Outgoing<MessagePdu>, terms: BindTerms): string | null {
  const payload = tlvOctets(pdu, 'message_payload');
  if (payload !== null && !terms.takesTlvs) return 'message_payload to a peer that takes no TLVs';
  if (pdu.command === 'data_sm') {
    return terms.version < VERSION_34 ? 'data_sm to a peer that is older than SMPP 3.4' : null;
  }
  const { length } = pdu.fields.shortMessage;
  const { shortMessageOctets } = terms.limits;
  if (length > shortMessageOctets) return `short_message is longer than ${shortMessageOctets} octets`;
  return length > 0 && payload !== null && payload.length > 0 ? 'short_message and message_payload at once' : null;
}

/** The message as its peer takes it: without TLVs to one that knows none (SMPP 3.4 section 3.4). */
export function asTaken<P extends Outgoing<MessagePdu>>(pdu: P, terms: BindTerms | null): P {
  return terms?.takesTlvs === true || pdu.tlvs.length === 0 ? pdu : { ...pdu, tlvs: NO_TLVS };
}
