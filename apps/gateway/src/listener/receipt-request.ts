import {
  type DataSm,
  dataSm,
  type DeliverSm,
  deliverSm,
  integerTlv,
  octetsTlv,
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
interface ReceiptRequest {
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

/** Longest address of a deliver_sm, in octets (SMPP 3.4, 4.6.1); those of a data_sm have up to 64 (4.7.1). */
const DELIVER_ADDRESS_OCTETS = 20;

/** Whether the receipt has an address that fits data_sm alone, which peers older than SMPP 3.4 do not know. */
export const needsDataSm = ({ source, destination }: Pick<ReceiptRequest, 'source' | 'destination'>): boolean =>
  source.value.length > DELIVER_ADDRESS_OCTETS || destination.value.length > DELIVER_ADDRESS_OCTETS;

/** Whether the message requests a receipt that this peer cannot get. */
export function isReceiptImpossible(message: MessagePdu, knowsDataSm: boolean): boolean {
  if (knowsDataSm || !asksForReceipt(message)) return false;
  const { sourceAddress: source, destinationAddress: destination } = message.fields;
  return needsDataSm({ source, destination });
}

/** The receipts that a peer requested with messages that are not answered yet. */
export class RequestedReceipts {
  /** By sequence number. */
  readonly #requests = new Map<number, ReceiptRequest>();

  /** Call with each message before it is answered. `nowMs` on the monotonic clock. */
  add(message: MessagePdu, nowMs: number): void {
    if (!asksForReceipt(message)) return;
    const { sourceAddress: source, destinationAddress: destination } = message.fields;
    this.#requests.set(message.sequence, { source, destination, receivedMs: nowMs });
  }

  /**
   * The receipt that is due once this PDU of ours is sent; null for none. A request ends with the response to its message,
   * whatever its status. Our own requests have other commands.
   */
  takeDue(sent: Pdu): DueReceipt | null {
    if (this.#requests.size === 0) return null;
    if (sent.command !== 'submit_sm_resp' && sent.command !== 'data_sm_resp') return null;
    const request = this.#requests.get(sent.sequence);
    if (request === undefined) return null;
    this.#requests.delete(sent.sequence);
    if (sent.status !== 0 || sent.fields.messageId === '') return null;
    return { request, messageId: sent.fields.messageId };
  }
}

/** Whether the message requests a receipt for its success. */
function asksForReceipt({ command, fields }: MessagePdu): boolean {
  return command !== 'deliver_sm' && ASKS_FOR_SUCCESS.has(fields.registeredDelivery & RECEIPT_BITS);
}

/**
 * The receipt of a delivered message (SMPP 3.4, appendix B): this gateway is its destination. Its addresses are those of
 * the message, exchanged; it quotes no text. A deliver_sm, or a data_sm where an address does not fit that.
 *
 * @param atMs time of arrival by the database's clock
 */
export function deliveredReceipt({ request, messageId }: DueReceipt, atMs: number): Outgoing<DeliverSm | DataSm> {
  const dates = `submit date:${minuteOf(atMs)} done date:${minuteOf(atMs)}`;
  const text = Buffer.from(`id:${messageId} sub:001 dlvrd:001 ${dates} stat:DELIVRD err:000 text:`, 'latin1');
  const fields = {
    sourceAddress: request.destination,
    destinationAddress: request.source,
    esmClass: RECEIPT_CLASS,
    dataCoding: LATIN1_CODING,
  };
  const tlvs = [textTlv('receipted_message_id', messageId), integerTlv('message_state', DELIVERED)];
  return needsDataSm(request)
    ? dataSm(fields, [...tlvs, octetsTlv('message_payload', text)])
    : deliverSm({ ...fields, shortMessage: text }, tlvs);
}

/** `YYMMDDhhmm` in UTC. */
const minuteOf = (ms: number): string => new Date(ms).toISOString().replace(/\D/g, '').slice(2, 12);
