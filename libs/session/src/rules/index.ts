export type { Fate, InboundVerdict } from './judge-inbound.js';
export {
  codeLimit,
  generateCode,
  DEFAULT_ATTEMPT_LIMIT,
  MAX_CODES,
  otpText,
  RESEND_COOLDOWN_SECONDS,
  type CodeLimit,
} from './otp.js';
export {
  ID_REUSE_WINDOW_MS,
  LONGEST_SESSION_MS,
  SESSION_STATUSES,
  type ApprovedBy,
  type Channel,
  type Metadata,
  type Session,
  type SessionStatus,
} from './session.js';
export { STATUS_BY_TERMINAL_EVENT } from './transition.js';
