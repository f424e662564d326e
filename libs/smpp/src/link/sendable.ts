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

/** The reason why a request may not be sent to this peer now; null when it may. */
export function refusalOf(pdu: Outgoing<MessagePdu | EnquireLink>, { role, state, terms }: Sender): string | null {
  if (terms === null || !isBound(state) || !maySend(role, state, requestKind(pdu.command))) {
    return `${pdu.command} by the role ${role} in state ${state}`;
  }
  return pdu.command === 'enquire_link' ? null : refusalOfMessage(pdu, terms);
}

function refusalOfMessage(pdu: Outgoing<MessagePdu>, terms: BindTerms): string | null {
  const payload = tlvOctets(pdu, 'message_payload');
  if (!terms.acceptsTlvs) {
    if (payload !== null) return 'message_payload to a peer that does not support TLVs';
    // Without them a phone would show parts as messages.
    if (tlvOctets(pdu, 'sar_msg_ref_num') !== null) return 'sar_msg_ref_num to a peer that does not support TLVs';
  }
  if (pdu.command === 'data_sm') {
    return terms.version < VERSION_34 ? 'data_sm to a peer older than SMPP 3.4' : null;
  }
  const { length } = pdu.fields.shortMessage;
  const { shortMessageOctets } = terms.limits;
  if (length > shortMessageOctets) return `short_message is longer than ${shortMessageOctets} octets`;
  return length > 0 && payload !== null && payload.length > 0 ? 'both short_message and message_payload' : null;
}

/** The message without TLVs if the peer supports none (SMPP 3.4 section 3.4). */
export function withoutUnsupportedTlvs<P extends Outgoing<MessagePdu>>(pdu: P, terms: BindTerms | null): P {
  return terms?.acceptsTlvs === true || pdu.tlvs.length === 0 ? pdu : { ...pdu, tlvs: NO_TLVS };
}
