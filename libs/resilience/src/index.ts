export { doubledMs, JITTER_SHARE, withJitterMs } from './exponential-backoff.js';
export { RowCache } from './row-cache.js';
export { throttled } from './throttled.js';
