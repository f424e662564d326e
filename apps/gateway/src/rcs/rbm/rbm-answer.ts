import type { SendOutcome } from '@countersign/rcs/rules';
import { objectIn, parseMembers, textIn } from '../json/json-members.js';
import type { Answer } from './rbm-call.js';

/** `done`: the command needs no retry. `again`: it is to be retried. */
export type CommandResult = 'done' | 'again';

/** The outcome of a send by its answer. The platform ignores a known message id, so a duplicate counts as sent. */
export function sendOutcomeOf(answer: Answer): SendOutcome {
  if (answer.kind === 'unsent') return { kind: 'refused', because: 'not_connected' };
  if (answer.kind === 'lost') return { kind: 'unknown', because: answer.because };
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 409) return { kind: 'sent' };
  if (status === 404) return { kind: 'unreachable' };
  // The platform may have failed after it queued the card.
  if (status >= 500) return { kind: 'unknown', because: 'server_error' };
  return { kind: 'refused', because: REFUSALS.get(status) ?? 'rejected' };
}

const REFUSALS: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_argument'],
  [401, 'unauthenticated'],
  [403, 'permission_denied'],
  [429, 'throttled'],
]);

/**
 * The state of the agent by an answer to a send. `unknown`: the answer concerns only this card, or there is none. `down`: the
 * platform fails or throttles. `forbidden`: it rejects this agent until an engineer fixes it.
 */
export type Health = 'works' | 'unknown' | 'down' | 'forbidden';

export function healthOf(answer: Answer): Health {
  if (answer.kind !== 'answered') return answer.because === 'stopped' ? 'unknown' : 'down';
  const { status } = answer;
  if (status === 401 || status === 403) return 'forbidden';
  if (status === 429 || status >= 500) return 'down';
  return status < 300 || status === 404 || status === 409 ? 'works' : 'unknown';
}

/**
 * The result of a revoke or a closing text by its answer. A revoke that is refused as too late is done. No answer to a
 * revoke proves that the card did not arrive.
 */
export function commandResultOf(answer: Answer): CommandResult {
  if (answer.kind !== 'answered') return 'again';
  const { status } = answer;
  return status === 401 || status === 429 || status >= 500 ? 'again' : 'done';
}

const MAX_MESSAGE = 300;

/** The platform's error message, for an engineer; empty without one. */
export function errorMessageOf(answer: Answer): string {
  if (answer.kind !== 'answered') return '';
  const members = parseMembers(answer.body);
  const error = members === null ? null : objectIn(members, 'error');
  const message = error === null ? null : textIn(error, 'message', 10 * MAX_MESSAGE);
  return (message ?? '').replace(/[\p{C}\s]+/gu, ' ').slice(0, MAX_MESSAGE);
}
