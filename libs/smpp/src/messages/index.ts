export {
  concatenationOf,
  messageKind,
  messageOctets,
  type Concatenation,
  type MessageOctets,
  type UserDataHeader,
} from './message-text.js';
export { parseReceipt, type DeliveryReceipt } from './receipt.js';
