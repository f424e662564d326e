export { elapsedMs } from './elapsed-clock.js';
export { LeasedWorker, type Claim } from './leased-worker.js';
export { PollLoop } from './poll-loop.js';
export { Timers } from './timers.js';
