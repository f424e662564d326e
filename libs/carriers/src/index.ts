export {
  HELD_FOR_SECONDS,
  LEASE_SECONDS,
  leaseKey,
  slotKey,
  type BindLease,
  type BindSlotName,
  type LeaseSurvey,
  type SurveyedSlot,
} from './bind-lease.js';
export { BindLeaseStore, type HeldConnection } from './bind-lease.store.js';
export {
  FULL_TRACE_SECONDS,
  recordFully,
  TRACE_FORMATS,
  TraceSeal,
  traceTopic,
  type TraceAnswer,
  type TracedConnection,
  type TracedPdu,
  type TraceFormat,
  type TraceQuestion,
} from './bind-trace.js';
export { BindEntity } from './bind.entity.js';
export {
  BIND_STATES,
  bindStatus,
  CONNECTION_STATES,
  type BindConnection,
  type BindSlot,
  type BindState,
  type BindStatus,
  type ConnectionState,
  type ConnectionStatus,
} from './bind-status.js';
export { bindsBoundElsewhere } from './bound-elsewhere.js';
export {
  BINDS,
  GATEWAYS,
  INBOUND_NUMBERS,
  ROUTES,
  SMPP_SYSTEMS,
  type BindRecord,
  type GatewayLease,
  type GatewayRecord,
  type SystemLink,
  type SystemRecord,
} from './carrier-tables.js';
export { CarrierDirectory } from './carrier.directory.js';
export {
  CarrierStore,
  type CarrierStoreOptions,
  type NewBind,
  type NewInboundNumber,
  type NewRoute,
  type NewSystem,
} from './carrier.store.js';
export {
  BIND_TYPES,
  INTERFACE_VERSIONS,
  LINK_ALPHABETS,
  MESSAGE_ID_BASES,
  type MessageIdBase,
  type Bind,
  type BindHost,
  type BindTls,
  type BindType,
  type InboundNumber,
  type InterfaceVersion,
  type LinkAlphabet,
  type LinkTerms,
  type SmppSystem,
} from './carrier.js';
export {
  ConcatenationStore,
  MAX_STORED_PART_CHARACTERS,
  PARTS_BELONG_SECONDS,
  type NearbyParts,
  type MessagePart,
  type WholeMessage,
} from './concatenation.store.js';
export {
  MtMessageStore,
  type AttemptRecord,
  type DeliveryClaim,
  type MtMessageStoreOptions,
  type DueLook,
  type TestStep,
} from './mt-message.store.js';
export { DestinationRuleEntity } from './destination-rule.entity.js';
export { DestinationStore } from './destination.store.js';
export {
  DESTINATION_ACTIONS,
  type DestinationAction,
  type DestinationPage,
  type DestinationRule,
  type GuardBlock,
  type NewDestinationRule,
  type RefusalTally,
} from './destination.js';
export { GatewayStore, type GatewayIdentity } from './gateway.store.js';
export { InboundNumberEntity } from './inbound-number.entity.js';
export { canonicalId, receiptIdOf } from './message-id.js';
export { MessageEntity } from './message.entity.js';
export { MessageLog, type MessageRecord } from './message-log.js';
export { TEST_LINK_ID, type MessageFilter } from './message-log.sql.js';
export { MessageStore } from './message.store.js';
export { MESSAGE_FATES, type MessageFate, type NewInboundMessage } from './message.js';
export {
  destinationPrefix,
  OUTBOUND_STATES,
  type AttemptOutcome,
  type ClaimedMessage,
  type DeliveryPlan,
  type DueMessage,
  type NewOutboundMessage,
  type OutboundState,
  type PlannedAttempt,
  type ReceiptFate,
  type ReceiptNote,
} from './outbound.js';
export { OutboundLookup } from './outbound.lookup.js';
export { OutboundQueue } from './outbound-queue.js';
export { OutboundStore } from './outbound.store.js';
export { possibleCountries, receivingCountry, servingNumber } from './number-plan.js';
export { RouteDirectory } from './route.directory.js';
export { RouteEntity } from './route.entity.js';
export { routesInOrder, type Chance, type Route } from './route.js';
export { CARRIER_KEY_DEPENDANTS } from './key-dependants.js';
export { SystemPasswordStore } from './smpp-password.store.js';
export { bindPassword, sealBindPassword, systemPasswordDigest, systemPasswordMatches } from './smpp-password.js';
export {
  createSystemPassword,
  isCommonPassword,
  MAX_PASSWORD_CHARACTERS,
  MIN_CHOSEN_PASSWORD_CHARACTERS,
} from './system-password.js';
export {
  isTrustedConnection,
  lacksTrustProof,
  MIN_TRUSTED_PREFIX_BITS,
  trustProofOf,
  type TrustProof,
  type TrustTerms,
} from './system-trust.js';
export { epochOf, SenderFormatStore, type ObservedSender, type SenderObservation } from './sender-format.store.js';
export {
  LEARNED_SENDER_FORMATS,
  senderRuleOf,
  SENDERS_TO_LEARN,
  type LearnedSenderFormat,
  type SenderLearning,
  type ShownSender,
} from './sender-learning.js';
export {
  SystemConnectionStore,
  type SystemConnection,
  type SystemConnectionStatus,
} from './system-connection.store.js';
export { SmppSystemEntity } from './smpp-system.entity.js';
