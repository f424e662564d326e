export { CardStore, type CardStoreOptions } from './card.store.js';
