import {
  beginsAsReceipt,
  hasReceiptTlvs,
  messageKind,
  parseReceipt,
  type DeliveryReceipt,
} from '@countersign/smpp/messages';
import { tlvInteger, type MessagePdu } from '@countersign/smpp/pdu';
import type { DefaultAlphabet } from '@countersign/text';
import { readMessage, type ReceivedMessage } from './received-message.js';

/**
 * The kind of a received message. `text_receipt`: a receipt by its text alone, so possibly written by a phone's user.
 * `receipt` null: it names no message. `message` is the decoded message, null where it was not read: no text is read twice.
 */
export type ReceivedKind =
  | { readonly kind: 'mo'; readonly message: ReceivedMessage | null }
  | { readonly kind: 'receipt'; readonly receipt: DeliveryReceipt | null }
  | { readonly kind: 'text_receipt'; readonly receipt: DeliveryReceipt; readonly message: ReceivedMessage };

const UNREAD_MO: ReceivedKind = { kind: 'mo', message: null };

const isReceiptByClass = (pdu: MessagePdu): boolean => messageKind(pdu) === 'receipt';

/** Whether esm_class or TLVs mark the message as a receipt. Only a carrier sets these; no text is read. */
export const isMarkedAsReceipt = (pdu: MessagePdu): boolean => isReceiptByClass(pdu) || hasReceiptTlvs(pdu);

/**
 * Distinguishes receipts from MOs, in this order:
 *
 * 1. A message marked as a receipt, by esm_class or by TLVs, that names a message and its final state is a receipt, whatever
 *    else its text says: only a carrier sets these, and a quotation in its text must not become an MO.
 * 2. Else a text with a token, and a part of a long message, which may hold a part of a token, are an MO: carriers mark
 *    MOs as receipts by mistake, nothing is settled by the receipt, and a token that is lost is a login that fails.
 * 3. A message marked by esm_class is a receipt. One marked by TLVs alone is one if these or its text say so; other
 *    texts may be replies that name the message they answer.
 * 4. A text that begins as in appendix B of SMPP 3.4 and names a message is a receipt if that message is one of this
 *    carrier's to this phone (`ReceiptsService.acceptTextReceipt`): some carriers leave esm_class at 0 or set the bits of
 *    acknowledgements, and a phone's user can write the same text.
 *
 * Never throws. An MO without signs of a receipt costs a comparison of one octet.
 *
 * @param isMarked the result of `isMarkedAsReceipt`, where it is at hand
 */
export function kindOf(
  pdu: MessagePdu,
  alphabet: DefaultAlphabet,
  isMarked: boolean = isMarkedAsReceipt(pdu),
): ReceivedKind {
  const byClass = isMarked && isReceiptByClass(pdu);
  const byText = !byClass && beginsAsReceipt(pdu);
  if (!isMarked && !byText) return UNREAD_MO;
  const byTlvs = isMarked && hasReceiptTlvs(pdu);
  const receipt = parseReceipt(pdu, alphabet);
  if ((byClass || byTlvs) && receipt !== null && receipt.state !== 'undecided') return { kind: 'receipt', receipt };
  const message = readMessage(pdu, alphabet);
  const { tokens, part, text } = message;
  const mo: ReceivedKind = { kind: 'mo', message };
  if (tokens.length > 0 || part !== null) return mo;
  if (byClass) return { kind: 'receipt', receipt };
  if (receipt === null) return mo;
  if (byTlvs && (byText || text === '' || tlvInteger(pdu, 'message_state') !== null))
    return { kind: 'receipt', receipt };
  return byText ? { kind: 'text_receipt', receipt, message } : mo;
}
