export { PollLoop, type PollLoopOptions } from './poll-loop.js';
export { Timers } from './timers.js';
