export { saysArrived, type JudgedArrivals } from './card-arrivals.js';
export type { AppliedEvents } from './card-events.js';
