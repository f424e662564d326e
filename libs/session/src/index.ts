export { authEntropy, type EntropyKeys, type EntropySubject } from './rules/auth-entropy.js';
export { fallbackText, fallbackUri } from './rules/fallback-uri.js';
export { findTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from './rules/find-tokens.js';
export { findStraddlingTokens, tokenEdges } from './rules/token-edges.js';
export type { Fate, InboundVerdict } from './rules/judge-inbound.js';
export {
  codeLimit,
  generateCode,
  MAX_ATTEMPTS,
  MAX_CODES,
  otpText,
  RESEND_COOLDOWN_SECONDS,
  type CheckRefused,
  type CodeHistory,
  type CodeLimit,
  type CodesRefused,
} from './rules/otp.js';
export { deriveToken, TOKEN_ALPHABET, TOKEN_LENGTH, tokenDigest, tokenDigests } from './rules/token.js';
export {
  ENDS,
  statusAt,
  transition,
  type RefusalReason,
  type SessionState,
  type SessionTrigger,
  type Transition,
} from './rules/transition.js';
export {
  ID_TAKEN_UP_WITHIN_MS,
  LONGEST_SESSION_MS,
  SESSION_STATUSES,
  type ApprovedBy,
  type Channel,
  type Metadata,
  type Session,
  type SessionStatus,
} from './session.js';
export type { CheckResult, CodeCheck, CodeReadiness, ReadyForCode } from './session-codes.js';
export { SESSION_KEY_DEPENDANTS } from './key-dependants.js';
export { GuardedWriteError, type Ended } from './session-ending.js';
export { ID_EARLIER_MS, type SessionPage, type SessionQuery } from './session-list.js';
export { SessionEntity } from './session.entity.js';
export type { CreateSession } from './session.row.js';
export {
  SessionStore,
  type CancelResult,
  type ConsumeResult,
  type Decision,
  type ExpiredCounts,
  type InboundEvidence,
  type SessionBatch,
  type SessionStoreOptions,
} from './session.store.js';
export { SESSION_RECORDS, sessionOfRecord, type SessionRecord } from './session-records.js';
export { BareSessionRenderer, SessionRenderer } from './session.view.js';
