import { STATUS, tlvTag } from '../pdu/dictionary.js';
import { isReport, MESSAGE, messageType } from '../pdu/esm-class.js';
import type { CommandName, FieldValue } from '../pdu/pdu.js';
import type { Tlv } from '../pdu/tlv.js';

/** The reason why a message is rejected although each of its fields can be decoded. */
export interface MessageFault {
  readonly status: number;
  readonly reason: string;
}

const MESSAGE_PAYLOAD = tlvTag('message_payload');
const RECEIPTED_MESSAGE_ID = tlvTag('receipted_message_id');
const PAYLOAD_TYPE = tlvTag('payload_type');
/** 0 is the default, 1 a WCMP message; the others are reserved (SMPP 3.4 section 5.3.2.10). */
const LAST_PAYLOAD_TYPE = 1;

const BOTH_TEXTS: MessageFault = {
  status: STATUS.ESME_RTLVNOTALLWD,
  reason: 'both short_message and message_payload',
};
const NAMELESS_RECEIPT: MessageFault = {
  status: STATUS.ESME_RMISSINGTLV,
  reason: 'a receipt without receipted_message_id and without a text',
};
const NO_PAYLOAD: MessageFault = {
  status: STATUS.ESME_RMISSINGTLV,
  reason: 'a data_sm without message_payload',
};
const UNKNOWN_PAYLOAD: MessageFault = {
  status: STATUS.ESME_RINVTLVVAL,
  reason: 'a reserved payload_type',
};

const holds = (tlvs: readonly Tlv[], tag: number): boolean =>
  tlvs.some((tlv) => tlv.tag === tag && tlv.value.length > 0);

const isReservedPayload = ({ tag, value }: Tlv): boolean => tag === PAYLOAD_TYPE && (value[0] ?? 0) > LAST_PAYLOAD_TYPE;

/**
 * Checks across fields. The text is in short_message or in message_payload, never in both (SMPP 3.4 section
 * 5.3.2.32). Other TLVs are not validated: an invalid optional parameter that is not used must not lose the message.
 */
export function messageFault(
  command: CommandName,
  fields: Readonly<Record<string, FieldValue>>,
  tlvs: readonly Tlv[],
): MessageFault | null {
  const text = fields['shortMessage'];
  const esmClass = fields['esmClass'];
  if (typeof esmClass !== 'number') return null;
  if (tlvs.length > 0 && tlvs.some(isReservedPayload)) return UNKNOWN_PAYLOAD;
  if (Buffer.isBuffer(text)) return text.length > 0 && holds(tlvs, MESSAGE_PAYLOAD) ? BOTH_TEXTS : null;
  return command === 'data_sm' ? dataFault(esmClass, tlvs) : null;
}

/**
 * data_sm has no field for a text or a message id, so a message needs message_payload, and a report needs that or
 * receipted_message_id, which also marks a report whose esm_class does not. An empty message_payload is an empty text,
 * which submit_sm can carry as well. An acknowledgement of a user needs neither: its content is user_response_code.
 */
function dataFault(esmClass: number, tlvs: readonly Tlv[]): MessageFault | null {
  if (holds(tlvs, RECEIPTED_MESSAGE_ID)) return null;
  if (messageType(esmClass) === MESSAGE) return tlvs.some(({ tag }) => tag === MESSAGE_PAYLOAD) ? null : NO_PAYLOAD;
  return isReport(esmClass) && !holds(tlvs, MESSAGE_PAYLOAD) ? NAMELESS_RECEIPT : null;
}
