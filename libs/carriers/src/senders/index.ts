export { epochOf, SenderFormatStore, type ObservedSender, type SenderObservation } from './sender-format.store.js';
export {
  LEARNED_SENDER_FORMATS,
  senderRuleOf,
  SENDERS_TO_LEARN,
  type LearnedSenderFormat,
  type SenderLearning,
} from './sender-learning.js';
