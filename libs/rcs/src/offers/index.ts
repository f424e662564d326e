export type { OfferResult, Withdrawal } from './card-offers.js';
export { CardQueue, type CardDepth } from './card-queue.js';
export { findCards, mayReachPhone, type CardRecord } from './card-record.js';
export type { AddressedCardOutcome, SentCard } from './card-sends.js';
