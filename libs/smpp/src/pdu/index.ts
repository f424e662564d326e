export { STATUS, statusName } from './dictionary.js';
export {
  dataSm,
  deliverSm,
  submitSm,
  type DataSm,
  type DeliverSm,
  type MalformedPdu,
  type MessagePdu,
  type OutbindFields,
  type Outgoing,
  type Pdu,
  type ResponsePdu,
  type SmppAddress,
  type SubmitSm,
} from './pdu.js';
export { integerTlv, octetsTlv, textTlv, tlvInteger, type Tlv } from './tlv.js';
