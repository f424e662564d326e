export { CardOfferStore, type CardOfferStoreOptions, type OfferResult, type Withdrawal } from './card-offer.store.js';
export { CardQueue } from './card-queue.js';
export { findCardEvents, findCards, mayReachPhone, type CardEventRecord, type CardRecord } from './card-record.js';
export { CardSendStore, type AddressedCardOutcome, type CardSendResult } from './card-send.store.js';
