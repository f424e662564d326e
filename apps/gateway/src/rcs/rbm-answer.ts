import type { SendOutcome } from '@countersign/rcs/rules';
import type { Trouble } from './agent-breaker.js';
import { objectIn, readMembers, textIn } from './json-members.js';
import type { Answer } from './rbm-call.js';

/** Whether something is told, or is to be told again. */
export type CommandResult = 'done' | 'again';

/** What an answer to a send means for the card. Who took an id before ignores it, so a duplicate is sent. */
export function judgeSend(answer: Answer): SendOutcome {
  if (answer.kind === 'unsent') return { kind: 'refused', because: 'not_connected' };
  if (answer.kind === 'lost') return { kind: 'unknown', because: answer.because };
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 409) return { kind: 'sent' };
  if (status === 404) return { kind: 'unreachable' };
  // The card may be in the queue of a platform that failed after it was put there.
  if (status >= 500) return { kind: 'unknown', because: 'server_error' };
  return { kind: 'refused', because: REFUSALS.get(status) ?? 'rejected' };
}

const REFUSALS: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_argument'],
  [401, 'unauthenticated'],
  [403, 'permission_denied'],
  [429, 'throttled'],
]);

/** What an answer to a send says of the agent as a whole. `unsaid`: it is about this card, or there is none. */
export type Health = 'works' | 'unsaid' | Trouble;

export function healthOf(answer: Answer): Health {
  if (answer.kind !== 'answered') return answer.because === 'stopped' ? 'unsaid' : 'down';
  const { status } = answer;
  if (status === 401 || status === 403) return 'forbidden';
  if (status === 429 || status >= 500) return 'down';
  return status < 300 || status === 404 || status === 409 ? 'works' : 'unsaid';
}

/**
 * Whether an answer to a revoke or a closing text is the last word. A revoke that is refused as too late is done; neither
 * reading of the platform proves that the card did not arrive.
 */
export function judgeCommandAnswer(answer: Answer): CommandResult {
  if (answer.kind !== 'answered') return 'again';
  const { status } = answer;
  return status === 401 || status === 429 || status >= 500 ? 'again' : 'done';
}

const MAX_MESSAGE = 300;

/** What the platform says of an error, in its words, for an engineer; empty where it says nothing. */
export function wordsOf(answer: Answer): string {
  if (answer.kind !== 'answered') return '';
  const members = readMembers(answer.body);
  const error = members === null ? null : objectIn(members, 'error');
  const message = error === null ? null : textIn(error, 'message', 10 * MAX_MESSAGE);
  return (message ?? '').replace(/[\p{C}\s]+/gu, ' ').slice(0, MAX_MESSAGE);
}
