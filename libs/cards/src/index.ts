export {
  type Card,
  type CardNews,
  type CardRefusal,
  type CardState,
  cardTopic,
  type Choice,
  type NewCard,
  type SendOutcome,
  type SettledAs,
} from './card.js';
export { CardQueue, type CardDepth } from './card-queue.js';
