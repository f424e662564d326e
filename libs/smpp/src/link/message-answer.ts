import { VERSION_34, type BindTerms } from './bind-terms.js';
import { STATUS } from '../pdu/dictionary.js';
import { UnreadableResponseError } from './link-errors.js';
import type { MessageAnswer } from './link-options.js';
import type { Settlement } from './outbound-requests.js';
import type { MessagePdu, PduOf, ResponsePdu } from '../pdu/pdu.js';
import { NO_TLVS } from '../pdu/tlv.js';

/** Message ids towards a peer older than 3.4 (SMPP 3.3 has 8 octets); the end of an id tells it apart. */
const OLD_MESSAGE_ID_OCTETS = 8;

const ANSWER_TO = { submit_sm: 'submit_sm_resp', deliver_sm: 'deliver_sm_resp', data_sm: 'data_sm_resp' } as const;
type MessageRespPdu = PduOf<(typeof ANSWER_TO)[MessagePdu['command']]>;

/** SMPP 3.4 section 4.6.2: the message_id of deliver_sm_resp is unused and empty. */
function messageIdFor(pdu: MessagePdu, messageId: string, terms: BindTerms | null): string {
  if (pdu.command === 'deliver_sm') return '';
  const isOld = (terms?.version ?? 0) < VERSION_34;
  return isOld && messageId.length > OLD_MESSAGE_ID_OCTETS ? messageId.slice(-OLD_MESSAGE_ID_OCTETS) : messageId;
}

/** What the handler of a message decided, as a peer of those terms reads it. */
export function messageAnswer(pdu: MessagePdu, answer: MessageAnswer, terms: BindTerms | null): MessageRespPdu {
  const messageId = messageIdFor(pdu, answer.messageId ?? '', terms);
  const { sequence } = pdu;
  return { command: ANSWER_TO[pdu.command], status: answer.status, sequence, fields: { messageId }, tlvs: NO_TLVS };
}

/** The answer in place of one that cannot be encoded. */
export function failedAnswer(pdu: MessagePdu): MessageRespPdu {
  return messageAnswer(pdu, { status: STATUS.ESME_RSYSERR }, null);
}

/** How an answer to a message of ours settles it. */
export function settleMessage(resolve: (answer: ResponsePdu) => void, reject: (error: Error) => void): Settlement {
  const settle: Settlement['resolve'] = (answer) => {
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
  return { resolve: settle, reject };
}
