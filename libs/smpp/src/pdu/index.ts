export { STATUS, statusName } from './dictionary.js';
export {
  dataSm,
  deliverSm,
  submitSm,
  type DeliverSm,
  type MalformedPdu,
  type MessagePdu,
  type Outgoing,
  type Pdu,
  type ResponsePdu,
  type SmppAddress,
  type SubmitSm,
} from './pdu.js';
export { integerTlv, octetsTlv, textTlv, tlvInteger, type Tlv } from './tlv.js';
