export {
  type Card,
  type CardOutcome,
  type CardRefusal,
  type CardState,
  cardTopic,
  type Choice,
  type NewCard,
  OFFER_LIFE_MS,
  OFFERS_TOPIC,
  SEND_LIFE_MS,
  type SendOutcome,
  type FinalChannel,
} from './card.js';
export { saysArrived, type JudgedArrivals } from './card-arrivals.js';
export type { RbmCommand, RbmCommandKind } from './rbm-commands.sql.js';
export {
  newCardEventId,
  type CardArrival,
  type CardEvent,
  type CardEventKind,
  type CardTap,
  type NewCardEvent,
} from './card-event.js';
export type { AppliedEvents } from './card-events.js';
export type { OfferResult, Withdrawal } from './card-offers.js';
export { CardQueue, type CardDepth } from './card-queue.js';
export { findCards, mayReachPhone, type CardRecord } from './card-record.js';
export type { AddressedCardOutcome, SentCard } from './card-sends.js';
export { CardStore, type CardStoreOptions } from './card.store.js';
export { plainAgentId } from './rules/agent-id.js';
export { CardAnswers, type AnsweredCard, type Suggestion, type Verdict } from './rules/card-answers.js';
export { messageIdOf, type MessageKind } from './rules/message-id.js';
