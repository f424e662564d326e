import { NO_TLVS } from './tlv.js';
import type { Tlv } from './tlv.js';

/** An SMPP address. `value` is at most 20 octets (64 in data_sm), one Latin-1 character per octet. */
export interface SmppAddress {
  readonly ton: number;
  readonly npi: number;
  readonly value: string;
}

/**
 * Value types of mandatory fields. Field sets are type aliases, not interfaces, so that the codec can iterate over
 * them without a cast.
 */
export type FieldValue = number | string | Buffer | SmppAddress;

/** The fields of bind_transmitter, bind_receiver and bind_transceiver (SMPP 3.4 section 4.1). */
export type BindFields = {
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  /** 0x34 for SMPP 3.4, 0x50 for 5.0, anything below 0x34 for older peers. */
  readonly interfaceVersion: number;
  readonly addressTon: number;
  readonly addressNpi: number;
  readonly addressRange: string;
};
export type BindRespFields = {
  readonly systemId: string;
};
export type OutbindFields = {
  readonly systemId: string;
  readonly password: string;
};
/** The fields of submit_sm and deliver_sm (SMPP 3.4 sections 4.4 and 4.6). */
export type MessageFields = {
  readonly serviceType: string;
  readonly sourceAddress: SmppAddress;
  readonly destinationAddress: SmppAddress;
  readonly esmClass: number;
  readonly protocolId: number;
  readonly priorityFlag: number;
  /** Empty or 16 characters, `YYMMDDhhmmsstnnp`. */
  readonly scheduleDeliveryTime: string;
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly replaceIfPresentFlag: number;
  readonly dataCoding: number;
  readonly smDefaultMsgId: number;
  /**
   * The octets as received, with a user data header if esmClass says so. A view of the octets read from the socket.
   */
  readonly shortMessage: Buffer;
};
/** The fields of data_sm (SMPP 3.4 section 4.7); its text is the TLV message_payload. */
export type DataFields = {
  readonly serviceType: string;
  readonly sourceAddress: SmppAddress;
  readonly destinationAddress: SmppAddress;
  readonly esmClass: number;
  readonly registeredDelivery: number;
  readonly dataCoding: number;
};
export type MessageRespFields = {
  readonly messageId: string;
};
/** SMPP 3.4 section 4.12: a phone that was not reachable is reachable again. It has no response. */
export type AlertFields = {
  readonly sourceAddress: SmppAddress;
  /** The ESME that is notified. */
  readonly esmeAddress: SmppAddress;
};
/** The fields of query_sm (SMPP 3.4 section 4.8). */
export type QueryFields = {
  readonly messageId: string;
  readonly sourceAddress: SmppAddress;
};
/** The fields of cancel_sm (SMPP 3.4 section 4.9). */
export type CancelFields = {
  readonly serviceType: string;
  /** Empty to cancel all messages between the two addresses. */
  readonly messageId: string;
  readonly sourceAddress: SmppAddress;
  readonly destinationAddress: SmppAddress;
};
/** The fields of replace_sm (SMPP 3.4 section 4.10). */
export type ReplaceFields = {
  readonly messageId: string;
  readonly sourceAddress: SmppAddress;
  readonly scheduleDeliveryTime: string;
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly smDefaultMsgId: number;
  readonly shortMessage: Buffer;
};
export type NoFields = Readonly<Record<string, never>>;

/**
 * One PDU. `status` is the command_status, 0 in requests; `sequence` the sequence_number, 1 to 0x7FFFFFFF in PDUs we
 * send.
 */
interface Envelope<Command extends string, Fields> {
  readonly command: Command;
  readonly status: number;
  readonly sequence: number;
  readonly fields: Fields;
  /** In wire order, including unknown and repeated tags. */
  readonly tlvs: readonly Tlv[];
  /** Of one of ours: records of the link never have its text. Not sent. */
  readonly isConfidential?: boolean;
}

/** The fields of every command that the engine implements. */
export interface FieldsOf {
  bind_receiver: BindFields;
  bind_transmitter: BindFields;
  bind_transceiver: BindFields;
  bind_receiver_resp: BindRespFields;
  bind_transmitter_resp: BindRespFields;
  bind_transceiver_resp: BindRespFields;
  outbind: OutbindFields;
  unbind: NoFields;
  unbind_resp: NoFields;
  enquire_link: NoFields;
  enquire_link_resp: NoFields;
  generic_nack: NoFields;
  submit_sm: MessageFields;
  submit_sm_resp: MessageRespFields;
  deliver_sm: MessageFields;
  deliver_sm_resp: MessageRespFields;
  data_sm: DataFields;
  data_sm_resp: MessageRespFields;
  alert_notification: AlertFields;
  query_sm: QueryFields;
  cancel_sm: CancelFields;
  replace_sm: ReplaceFields;
}
export type CommandName = keyof FieldsOf;
export type PduOf<Command extends CommandName> = Command extends CommandName
  ? Envelope<Command, FieldsOf[Command]>
  : never;
export type Pdu = PduOf<CommandName>;

export type SubmitSm = PduOf<'submit_sm'>;
export type DeliverSm = PduOf<'deliver_sm'>;
export type DataSm = PduOf<'data_sm'>;
export type EnquireLink = PduOf<'enquire_link'>;
/** A PDU that carries a message, in either direction. */
export type MessagePdu = SubmitSm | DeliverSm | DataSm;
/** A request about a message submitted before; the engine decodes and refuses them. */
export type AncillaryPdu = PduOf<'query_sm' | 'cancel_sm' | 'replace_sm'>;
export type BindPdu = PduOf<'bind_receiver' | 'bind_transmitter' | 'bind_transceiver'>;
export type BindRespPdu = PduOf<'bind_receiver_resp' | 'bind_transmitter_resp' | 'bind_transceiver_resp'>;
/** Responses to requests made through `SmppLink.request`; generic_nack can answer any of them. */
export type ResponsePdu = PduOf<
  'submit_sm_resp' | 'deliver_sm_resp' | 'data_sm_resp' | 'enquire_link_resp' | 'generic_nack'
>;

/** A PDU before the link assigns its sequence number. */
export type Outgoing<P extends Pdu> = P extends Pdu ? Omit<P, 'sequence'> : never;

/**
 * Octets that were framed as a PDU but cannot be decoded: a value, not an exception. `status` is the status to answer
 * with: in the response of the same command when `of` names a request of the dictionary and a field is at fault, in a
 * generic_nack for an unknown command_id (0x03). A malformed response is never answered.
 */
export interface MalformedPdu {
  readonly command: 'malformed';
  /** The dictionary's name of the command; null when the command_id is unknown. */
  readonly of: string | null;
  readonly commandId: number;
  readonly sequence: number;
  readonly status: number;
  readonly reason: string;
}

const NO_ADDRESS: SmppAddress = { ton: 0, npi: 0, value: '' };
const BLANK_MESSAGE: MessageFields = {
  serviceType: '',
  sourceAddress: NO_ADDRESS,
  destinationAddress: NO_ADDRESS,
  esmClass: 0,
  protocolId: 0,
  priorityFlag: 0,
  scheduleDeliveryTime: '',
  validityPeriod: '',
  registeredDelivery: 0,
  replaceIfPresentFlag: 0,
  dataCoding: 0,
  smDefaultMsgId: 0,
  shortMessage: Buffer.alloc(0),
};
const BLANK_DATA: DataFields = {
  serviceType: '',
  sourceAddress: NO_ADDRESS,
  destinationAddress: NO_ADDRESS,
  esmClass: 0,
  registeredDelivery: 0,
  dataCoding: 0,
};

/** A submit_sm for `SmppLink.request`; fields left out are empty or zero. */
export function submitSm(fields: Partial<MessageFields>, tlvs: readonly Tlv[] = NO_TLVS): Outgoing<SubmitSm> {
  return { command: 'submit_sm', status: 0, fields: { ...BLANK_MESSAGE, ...fields }, tlvs };
}
/** A deliver_sm for `SmppLink.request`; fields left out are empty or zero. */
export function deliverSm(fields: Partial<MessageFields>, tlvs: readonly Tlv[] = NO_TLVS): Outgoing<DeliverSm> {
  return { command: 'deliver_sm', status: 0, fields: { ...BLANK_MESSAGE, ...fields }, tlvs };
}
/** A data_sm for `SmppLink.request`; its text goes into `octetsTlv('message_payload', …)`. */
export function dataSm(fields: Partial<DataFields>, tlvs: readonly Tlv[] = NO_TLVS): Outgoing<DataSm> {
  return { command: 'data_sm', status: 0, fields: { ...BLANK_DATA, ...fields }, tlvs };
}

type BareCommand = 'unbind' | 'unbind_resp' | 'enquire_link' | 'enquire_link_resp';
/** A PDU that consists of a header only. */
export function bare<Command extends BareCommand>(command: Command) {
  return { command, status: 0, fields: {}, tlvs: NO_TLVS };
}
