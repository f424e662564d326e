export {
  ConcatenationStore,
  MAX_STORED_PART_CHARACTERS,
  PARTS_BELONG_SECONDS,
  type NearbyParts,
  type MessagePart,
  type WholeMessage,
} from './concatenation.store.js';
export { MessageEntity } from './message.entity.js';
export { MESSAGE_FATES, type MessageFate, type NewInboundMessage } from './message.js';
export { MessageStore } from './message.store.js';
