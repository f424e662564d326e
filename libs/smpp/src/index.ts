export { STATUS, statusName } from './dictionary.js';
export type { StatusName, TlvName } from './dictionary.js';
export { dataSm, deliverSm, submitSm } from './pdu.js';
export type {
  BindFields,
  CommandName,
  DataFields,
  DataSm,
  DeliverSm,
  EnquireLink,
  MalformedPdu,
  MessageFields,
  MessagePdu,
  OutbindFields,
  Outgoing,
  Pdu,
  PduOf,
  ResponsePdu,
  SmppAddress,
  SubmitSm,
} from './pdu.js';
export { integerTlv, octetsTlv, textTlv, tlvInteger, tlvOctets } from './tlv.js';
export type { Tlv } from './tlv.js';
export { decodePdu, LIMITS_OF_34, LIMITS_OF_50 } from './decode.js';
export type { DecodeLimits } from './decode.js';
export { encodePdu, InvalidPduError, MAX_PDU_OCTETS } from './encode.js';
export { Framer } from './framer.js';
export { parseReceipt, type DeliveryReceipt } from './receipt.js';
export { pcapOf } from './pcap.js';
export type { CapturedPdu, Conversation, Endpoint } from './pcap.js';
export { redactPdu } from './redact.js';
export { redactOctets } from './redact-octets.js';
export { concatenationOf, messageKind, messageOctets } from './message-text.js';
export type { Concatenation, MessageOctets, UserDataHeader } from './message-text.js';
export { LinkClosedError, NotSentError, ResponseTimeoutError, UnreadableResponseError } from './link-errors.js';
export type { BindCall, BindRequest, LinkOptions, MessageAnswer, OutbindAgreement } from './link-options.js';
export type { BindType, LinkRole, LinkState } from './link-state.js';
export type { LinkTimers } from './timers.js';
export { SmppLink } from './transport/smpp-link.js';
