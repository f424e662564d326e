export { CardArrivalStore, isArrivalEvent, type PreparedArrivals } from './card-arrival.store.js';
export { CardEventStore, type AppliedEvents } from './card-event.store.js';
