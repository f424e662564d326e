export { SESSION_KEY_DEPENDANTS } from './key-dependants.js';
export type { CheckResult, CodeReadiness, ReadyForCode } from './session-codes.js';
export { GuardedWriteError, type Ended } from './session-ending.js';
export type { CodeCheck, SessionListener } from './session-listener.js';
export { ID_EARLIER_MS, isListPosition, type SessionQuery } from './session-list.js';
export { SESSION_RECORDS, sessionOfRecord, type SessionRecord } from './session-records.js';
export { SessionEntity } from './session.entity.js';
export type { CreateSession } from './session.row.js';
export {
  SessionStore,
  type Decision,
  type ExpiredCounts,
  type InboundEvidence,
  type SessionBatch,
} from './session.store.js';
export { SessionRenderer } from './session.view.js';
