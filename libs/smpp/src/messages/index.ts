export { concatenationOf, messageKind, messageOctets, textField, type Concatenation } from './message-text.js';
export { beginsAsReceipt, hasReceiptTlvs, parseReceipt, type DeliveryReceipt } from './receipt.js';
