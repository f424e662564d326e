import type { PduValues } from 'smpp';
import type { SmscAddress } from './address.js';

export const RECEIPT_STATES = ['DELIVRD', 'UNDELIV'] as const;
export type ReceiptState = (typeof RECEIPT_STATES)[number];

/** message_state (SMPP 3.4, 5.2.28) and network_error_code (5.3.2.31: GSM, "absent subscriber") of each. */
const OUTCOMES = {
  DELIVRD: { messageState: 2, delivered: '001', error: '000', networkErrorCode: null },
  UNDELIV: { messageState: 5, delivered: '000', error: '027', networkErrorCode: Buffer.from([3, 0, 27]) },
} as const;

const ESM_CLASS_RECEIPT = 0x04;
const QUOTED_CHARACTERS = 20;

/** registered_delivery, bits 0 and 1 (SMPP 3.4, 5.2.17; value 3 is of 5.0). */
const REQUESTS: Readonly<Record<number, readonly ReceiptState[]>> = {
  1: ['DELIVRD', 'UNDELIV'],
  2: ['UNDELIV'],
  3: ['DELIVRD'],
};

/** Whether a submit with this registered_delivery asks for a receipt of that outcome. */
export const wantsReceipt = (registeredDelivery: number, state: ReceiptState): boolean =>
  REQUESTS[registeredDelivery & 0x03]?.includes(state) ?? false;

export interface SubmittedMessage {
  readonly messageId: string;
  readonly from: SmscAddress;
  readonly to: SmscAddress;
  readonly text: string;
  readonly at: Date;
}

/** The deliver_sm of a receipt: text as in SMPP 3.4, appendix B, and the same as TLVs. */
export function receiptOf(
  message: SubmittedMessage,
  state: ReceiptState,
  doneAt: Date,
): PduValues & { short_message: Buffer } {
  const outcome = OUTCOMES[state];
  const text = [
    `id:${message.messageId}`,
    'sub:001',
    `dlvrd:${outcome.delivered}`,
    `submit date:${minuteOf(message.at)}`,
    `done date:${minuteOf(doneAt)}`,
    `stat:${state}`,
    `err:${outcome.error}`,
    `text:${asAscii(message.text)}`,
  ];
  return {
    esm_class: ESM_CLASS_RECEIPT,
    source_addr_ton: message.to.ton,
    source_addr_npi: message.to.npi,
    source_addr: message.to.value,
    dest_addr_ton: message.from.ton,
    dest_addr_npi: message.from.npi,
    destination_addr: message.from.value,
    data_coding: 0,
    short_message: Buffer.from(text.join(' '), 'ascii'),
    receipted_message_id: message.messageId,
    message_state: outcome.messageState,
    ...(outcome.networkErrorCode === null ? {} : { network_error_code: outcome.networkErrorCode }),
  };
}

/** YYMMDDhhmm, UTC. */
const minuteOf = (date: Date): string => date.toISOString().replace(/\D/g, '').slice(2, 12);

const asAscii = (text: string): string => text.slice(0, QUOTED_CHARACTERS).replace(/[^\x20-\x7e]/g, '?');
