export { concatenationOf, messageKind, messageOctets, type Concatenation } from './message-text.js';
export { parseReceipt } from './receipt.js';
