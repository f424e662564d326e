import type { CheckResult, CodeReadiness } from '@countersign/session';
import { RESEND_COOLDOWN_SECONDS, type CodeLimit } from '@countersign/session/rules';
import { refuse, type Refusal } from '../http/errors.js';
import type { GuardRefusal } from '../guard/guard-rules.js';

type NotReady = Exclude<CodeReadiness, { kind: 'ready' }>;
type NotApproved = Exclude<CheckResult, { kind: 'approved' }>;

/** The error of a code that is not sent or not accepted (contract, Errors). */
export function codeRefusal(refused: NotReady | NotApproved): Refusal {
  switch (refused.kind) {
    case 'not_found':
      return { code: 'SESSION_NOT_FOUND' };
    case 'expired':
      return { code: 'SESSION_NOT_FOUND', message: `This session expired at ${refused.at.toISOString()}.` };
    case 'not_pending':
      return { code: 'SESSION_NOT_PENDING', message: `This session is ${refused.status}.` };
    case 'otp_disabled':
      return { code: 'SMS_OTP_DISABLED' };
    case 'not_sent':
      return { code: 'OTP_NOT_SENT' };
    case 'too_many':
      return { code: 'TOO_MANY_ATTEMPTS', retryAfterSeconds: refused.retryAfterSeconds };
    case 'wrong':
      return { code: 'INVALID_CODE', field: 'code', attemptsRemaining: refused.attemptsRemaining };
  }
}

/** The error of a session that has reached a limit of its codes. */
export function limitRefusal({ kind, retryAfterSeconds }: CodeLimit): Refusal {
  if (kind === 'send_limit') {
    return { code: 'SEND_LIMIT_REACHED', message: 'This session sends no more codes.', retryAfterSeconds };
  }
  const message = `A code was sent less than ${RESEND_COOLDOWN_SECONDS} seconds ago.`;
  return { code: 'RATE_LIMITED', message, retryAfterSeconds };
}

/** The error of a send that the guard refused. It does not name the rule that blocked the destination. */
export function guardRefusal(refused: GuardRefusal, now: Date): Refusal {
  if (refused.kind === 'blocked') return { code: 'DESTINATION_BLOCKED', field: 'phone' };
  const seconds = Math.ceil((refused.until.getTime() - now.getTime()) / 1000);
  const message = 'Too many codes were sent to this phone.';
  return { code: 'SEND_LIMIT_REACHED', message, retryAfterSeconds: Math.max(1, seconds) };
}

/** No bind is up that routes messages to this phone. The caller cannot resolve this, so it is a 503 with a retry. */
export const NO_ROUTE: Refusal = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'No route leads to this phone at the moment.',
  retryAfterSeconds: 30,
};

export const NOT_FOUND = refuse('SESSION_NOT_FOUND');
