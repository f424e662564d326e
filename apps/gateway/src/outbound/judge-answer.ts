import { ATTEMPT_ERRORS, receiptIdOf, type AttemptOutcome } from '@countersign/carriers/outbound';
import { NotSentError } from '@countersign/smpp/link';
import { STATUS, statusName, type ResponsePdu } from '@countersign/smpp/pdu';
import type { SendingTerms } from '../links/link-sender.js';

/** Carrier-specific settings: the temporary statuses (all others are final) and the number base of message ids. */
export type AnswerConventions = Pick<SendingTerms, 'temporaryStatuses' | 'messageIdBase'>;

/** Errors of attempts without a status from the carrier. */
export const NOT_SENT = ATTEMPT_ERRORS.notSent;
export const NO_ANSWER = ATTEMPT_ERRORS.noAnswer;
export const UNREADABLE_TEXT = ATTEMPT_ERRORS.unreadableText;
/** This process has sent the code twice already. */
export const SENT_BEFORE = ATTEMPT_ERRORS.sentBefore;
/** The stored submit options are not legal in this release. */
export const ILLEGAL_OPTIONS = ATTEMPT_ERRORS.illegalOptions;

/** The outcome of an attempt, from the response to its submit. */
export function judgeAnswer(
  answer: ResponsePdu,
  { temporaryStatuses, messageIdBase }: AnswerConventions,
): AttemptOutcome {
  // The link passes on the response of the command that was sent: deliver_sm to a system.
  const isOfMessage = answer.command === 'submit_sm_resp' || answer.command === 'deliver_sm_resp';
  if (isOfMessage && answer.status === STATUS.ESME_ROK) {
    const { messageId } = answer.fields;
    if (messageId === '') return { kind: 'submitted', smscMessageId: null, receiptId: null };
    return { kind: 'submitted', smscMessageId: messageId, receiptId: receiptIdOf(messageId, messageIdBase) };
  }
  // ESME_ROK in another PDU does not confirm the submit.
  if (answer.status === STATUS.ESME_ROK) return { kind: 'unknown', error: NO_ANSWER };
  return { kind: temporaryStatuses.includes(answer.status) ? 'busy' : 'refused', error: statusName(answer.status) };
}

/** Outcomes of parts, worst first: a message that lacks a part is incomplete for the phone. */
const WORST_FIRST: readonly AttemptOutcome['kind'][] = ['refused', 'busy', 'unknown'];

/**
 * The outcome of a message from those of its parts (at least one): the worst, or the last part's if all were submitted. A message of
 * which a part was accepted is never busy: it is sent once more, as after a missing response, since each time costs the parts again.
 */
export function judgeParts(parts: readonly AttemptOutcome[]): AttemptOutcome {
  const worst = WORST_FIRST.flatMap((kind) => parts.filter((part) => part.kind === kind))[0];
  const isPartlySubmitted = parts.some(({ kind }) => kind === 'submitted');
  if (worst?.kind === 'busy' && isPartlySubmitted) return { kind: 'unknown', error: worst.error };
  return worst ?? parts.at(-1) ?? { kind: 'busy', error: NOT_SENT };
}

/** The outcome of a submit without a response: not sent, or of unknown fate. */
export function judgeFailure(error: unknown): AttemptOutcome {
  return error instanceof NotSentError ? { kind: 'busy', error: NOT_SENT } : { kind: 'unknown', error: NO_ANSWER };
}
