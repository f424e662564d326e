import type { Bind } from '@countersign/carriers/config';
import { receiptIdOf, type AttemptOutcome } from '@countersign/carriers/outbound';
import { NotSentError } from '@countersign/smpp/link';
import { STATUS, statusName, type ResponsePdu } from '@countersign/smpp/pdu';

/** What is known of a carrier's manners: which answers ask for time (all others are its last word), how it spells ids. */
export type AnswerConventions = Pick<Bind, 'temporaryStatuses' | 'messageIdBase'>;

/** What the link gave up on, where the carrier gave no reason. */
export const NOT_SENT = 'NOT_SENT';
export const NO_ANSWER = 'NO_ANSWER';
export const UNREADABLE_TEXT = 'UNREADABLE_TEXT';

/** What an answer to a submit means for the message. */
export function judgeAnswer(
  answer: ResponsePdu,
  { temporaryStatuses, messageIdBase }: AnswerConventions,
): AttemptOutcome {
  if (answer.command === 'submit_sm_resp' && answer.status === STATUS.ESME_ROK) {
    const { messageId } = answer.fields;
    if (messageId === '') return { kind: 'submitted', smscMessageId: null, receiptId: null };
    return { kind: 'submitted', smscMessageId: messageId, receiptId: receiptIdOf(messageId, messageIdBase) };
  }
  // An OK of another kind answers nothing that was asked.
  if (answer.status === STATUS.ESME_ROK) return { kind: 'unknown', error: NO_ANSWER };
  return { kind: temporaryStatuses.includes(answer.status) ? 'busy' : 'refused', error: statusName(answer.status) };
}

/** From the worst for a message in parts: it is not whole without the one that was refused, or not sent. */
const WORST_FIRST: readonly AttemptOutcome['kind'][] = ['refused', 'busy', 'unknown'];

/** What the fates of its parts, at least one, mean for a message: the last stands for all when all arrived. */
export function judgeParts(parts: readonly AttemptOutcome[]): AttemptOutcome {
  const worst = WORST_FIRST.flatMap((kind) => parts.filter((part) => part.kind === kind))[0];
  return worst ?? parts.at(-1) ?? { kind: 'busy', error: NOT_SENT };
}

/** What it means that there was none: never sent, or sent and of unknown fate. */
export function judgeFailure(error: unknown): AttemptOutcome {
  return error instanceof NotSentError ? { kind: 'busy', error: NOT_SENT } : { kind: 'unknown', error: NO_ANSWER };
}
