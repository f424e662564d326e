import {
  type DeliverSm,
  deliverSm,
  integerTlv,
  textTlv,
  type MessagePdu,
  type Outgoing,
  type Pdu,
  type SmppAddress,
} from '@countersign/smpp/pdu';

/** Bits 1 and 0 of registered_delivery (SMPP 3.4, 5.2.17; 5.0, 4.7.21). */
const RECEIPT_BITS = 0b11;
/** Receipt for success and failure, and, of SMPP 5.0, for success alone. One for failure alone is never due. */
const ASKS_FOR_SUCCESS: ReadonlySet<number> = new Set([1, 3]);
/** esm_class of a delivery receipt (SMPP 3.4, 5.2.12). */
const RECEIPT_CLASS = 0x04;
/** data_coding of Latin-1 (SMPP 3.4, 5.2.19): 0 and 1 are often read in the GSM alphabet, in which `_` of the id is `§`. */
const LATIN1_CODING = 3;
/** message_state DELIVERED (SMPP 3.4, 5.2.28). */
const DELIVERED = 2;

/** A receipt that a peer requested with a message. */
export interface ReceiptRequest {
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  /** Time of arrival on the monotonic clock. */
  readonly receivedMs: number;
}

/** A requested receipt after the ESME_ROK to its message. */
export interface DueReceipt {
  readonly request: ReceiptRequest;
  /** The message_id of the response. */
  readonly messageId: string;
}

/** Whether the message requests a receipt for its success. */
export function asksForReceipt({ command, fields }: MessagePdu): boolean {
  return command !== 'deliver_sm' && ASKS_FOR_SUCCESS.has(fields.registeredDelivery & RECEIPT_BITS);
}

/** The message_id of a response that accepts an MO; null for others. The response to a receipt has none. */
export function acceptedId(response: Pdu): string | null {
  if (response.command !== 'submit_sm_resp' && response.command !== 'data_sm_resp') return null;
  return response.status === 0 && response.fields.messageId !== '' ? response.fields.messageId : null;
}

/**
 * The receipt of a delivered message (SMPP 3.4, appendix B): this gateway is its destination. Its addresses are those of
 * the message, exchanged; it quotes no text.
 *
 * @param atMs time of arrival by the database's clock
 */
export function deliveredReceipt({ request, messageId }: DueReceipt, atMs: number): Outgoing<DeliverSm> {
  const { source, destination } = request;
  const dates = `submit date:${minuteOf(atMs)} done date:${minuteOf(atMs)}`;
  const text = `id:${messageId} sub:001 dlvrd:001 ${dates} stat:DELIVRD err:000 text:`;
  return deliverSm(
    {
      sourceAddress: destination,
      destinationAddress: source,
      esmClass: RECEIPT_CLASS,
      dataCoding: LATIN1_CODING,
      shortMessage: Buffer.from(text, 'latin1'),
    },
    [textTlv('receipted_message_id', messageId), integerTlv('message_state', DELIVERED)],
  );
}

/** `YYMMDDhhmm` in UTC. */
const minuteOf = (ms: number): string => new Date(ms).toISOString().replace(/\D/g, '').slice(2, 12);
