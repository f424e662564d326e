import { VERSION_34, type BindTerms } from './bind-terms.js';
import { STATUS } from '../pdu/dictionary.js';
import { UnreadableResponseError } from './link-errors.js';
import type { MessageAnswer } from './link-options.js';
import type { ResponseCallbacks } from './outbound-requests.js';
import type { AncillaryPdu, MessagePdu, PduOf, ResponsePdu } from '../pdu/pdu.js';
import { NO_TLVS } from '../pdu/tlv.js';

/**
 * Length of message ids sent to a peer older than 3.4 (SMPP 3.3 allows 8 octets); the last octets identify the
 * message.
 */
const OLD_MESSAGE_ID_OCTETS = 8;

const ANSWER_TO = { submit_sm: 'submit_sm_resp', deliver_sm: 'deliver_sm_resp', data_sm: 'data_sm_resp' } as const;
type MessageRespPdu = PduOf<(typeof ANSWER_TO)[MessagePdu['command']]>;

/** SMPP 3.4 section 4.6.2: the message_id of deliver_sm_resp is unused and empty. */
function messageIdFor(pdu: MessagePdu, messageId: string, terms: BindTerms | null): string {
  if (pdu.command === 'deliver_sm') return '';
  const isOld = (terms?.version ?? 0) < VERSION_34;
  return isOld && messageId.length > OLD_MESSAGE_ID_OCTETS ? messageId.slice(-OLD_MESSAGE_ID_OCTETS) : messageId;
}

/** The response to a message, from the handler's result and the terms of the bind. */
export function messageAnswer(pdu: MessagePdu, answer: MessageAnswer, terms: BindTerms | null): MessageRespPdu {
  const messageId = messageIdFor(pdu, answer.messageId ?? '', terms);
  const { sequence } = pdu;
  return { command: ANSWER_TO[pdu.command], status: answer.status, sequence, fields: { messageId }, tlvs: NO_TLVS };
}

/**
 * The status for a request about an earlier message (SMPP 3.4 section 5.1.3). Messages are handed to their owner when they
 * arrive, so there is none to query, cancel or replace.
 */
export const ANCILLARY_STATUS: Readonly<Record<AncillaryPdu['command'], number>> = {
  query_sm: STATUS.ESME_RQUERYFAIL,
  cancel_sm: STATUS.ESME_RCANCELFAIL,
  replace_sm: STATUS.ESME_RREPLACEFAIL,
};

/** Sends the response to a message. Returns the error when the handler's answer cannot be encoded: the peer gets ESME_RSYSERR. */
export function sendAnswer(
  socket: { send(pdu: MessageRespPdu): void },
  pdu: MessagePdu,
  answer: MessageAnswer,
  terms: BindTerms | null,
): string | null {
  try {
    socket.send(messageAnswer(pdu, answer, terms));
    return null;
  } catch {
    const failed = messageAnswer(pdu, { status: STATUS.ESME_RSYSERR }, null);
    socket.send(failed);
    return `${failed.command}: the answer cannot be encoded`;
  }
}

/** Callbacks for the response to one of our messages. */
export function messageResponseCallbacks(
  resolve: (answer: ResponsePdu) => void,
  reject: (error: Error) => void,
): ResponseCallbacks {
  const resolveMessage: ResponseCallbacks['resolve'] = (answer) => {
    switch (answer.command) {
      case 'submit_sm_resp':
      case 'deliver_sm_resp':
      case 'data_sm_resp':
      case 'enquire_link_resp':
      case 'generic_nack':
        resolve(answer);
        break;
      default:
        reject(new UnreadableResponseError('a message', `answered by ${answer.command}`));
    }
  };
  return { resolve: resolveMessage, reject };
}
