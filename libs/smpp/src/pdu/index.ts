export { STATUS, statusName, type StatusName, type TlvName } from './dictionary.js';
export {
  dataSm,
  deliverSm,
  submitSm,
  type BindFields,
  type CommandName,
  type DataFields,
  type DataSm,
  type DeliverSm,
  type EnquireLink,
  type MalformedPdu,
  type MessageFields,
  type MessagePdu,
  type OutbindFields,
  type Outgoing,
  type Pdu,
  type PduOf,
  type ResponsePdu,
  type SmppAddress,
  type SubmitSm,
} from './pdu.js';
export { integerTlv, octetsTlv, textTlv, tlvInteger, tlvOctets, type Tlv } from './tlv.js';
