import type { AttemptOutcome } from '@countersign/carriers';
import { NotSentError, STATUS, statusName, type ResponsePdu } from '@countersign/smpp';

/** A carrier that answers one of these may be asked again; all others are its last word (SMPP 3.4, 5.1.3). */
const TEMPORARY: ReadonlySet<number> = new Set([STATUS.ESME_RSYSERR, STATUS.ESME_RMSGQFUL, STATUS.ESME_RTHROTTLED]);

/** What the link gave up on, where the carrier gave no reason. */
export const NOT_SENT = 'NOT_SENT';
export const NO_ANSWER = 'NO_ANSWER';
export const UNREADABLE_TEXT = 'UNREADABLE_TEXT';

/** What an answer to a submit means for the message. */
export function judgeAnswer(answer: ResponsePdu): AttemptOutcome {
  if (answer.command === 'submit_sm_resp' && answer.status === STATUS.ESME_ROK) {
    const { messageId } = answer.fields;
    return { kind: 'submitted', smscMessageId: messageId === '' ? null : messageId };
  }
  // An OK of another kind answers nothing that was asked.
  if (answer.status === STATUS.ESME_ROK) return { kind: 'unknown', error: NO_ANSWER };
  return { kind: TEMPORARY.has(answer.status) ? 'busy' : 'refused', error: statusName(answer.status) };
}

/** What it means that there was none: never sent, or sent and of unknown fate. */
export function judgeFailure(error: unknown): AttemptOutcome {
  return error instanceof NotSentError ? { kind: 'busy', error: NOT_SENT } : { kind: 'unknown', error: NO_ANSWER };
}
