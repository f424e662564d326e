export { ATTEMPT_ERRORS, ATTEMPT_OUTCOMES, attemptsOf, type Attempt } from './attempt-log.js';
export { canonicalId, receiptIdOf } from './message-id.js';
export { MtMessageStore, type AttemptRecord, type MtClaim, type DueQuery } from './mt-message.store.js';
export { OutboundQueue } from './outbound-queue.js';
export {
  destinationPrefix,
  OUTBOUND_STATES,
  type AttemptOutcome,
  type ClaimedMessage,
  type MtPlan,
  type DueMessage,
  type OutboundState,
  type PlannedAttempt,
  type ReceiptResult,
  type ReceiptRecord,
} from './outbound.js';
export { OutboundLookup } from './outbound.lookup.js';
export { OutboundStore } from './outbound.store.js';
export { ReportedMessageStore, type ReportedMessage, type ReportedState } from './reported-message.store.js';
