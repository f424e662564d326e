export { plainAgentId } from './agent-id.js';
export { CardAnswers, type Suggestion, type Verdict } from './card-answers.js';
export {
  newCardEventId,
  type CardArrival,
  type CardEvent,
  type CardEventKind,
  type CardTap,
  type NewCardEvent,
} from './card-event.js';
export {
  type Card,
  type CardOutcome,
  type CardState,
  type Choice,
  type NewCard,
  OFFER_LIFE_MS,
  SEND_LIFE_MS,
  type SendOutcome,
  type FinalChannel,
} from './card.js';
export { messageIdOf } from './message-id.js';
