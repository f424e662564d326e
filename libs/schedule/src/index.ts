export { PollLoop } from './poll-loop.js';
export { Timers } from './timers.js';
